//! The data behind the demo server: one small mug-and-coffee shop, the same on every machine.
//!
//! Everything is computed from an index, so a fresh process knows the same orders as the last one; only refunds
//! are remembered, and only while the process lives.
use serde_json::{Value, json};

/// Customers are numbered `c-1` to `c-24`.
pub(super) const CUSTOMERS: u32 = 24;
/// Orders are numbered `o-1001` upwards.
const FIRST_ORDER: u32 = 1001;
/// How many orders the shop has.
pub(super) const ORDERS: u32 = 96;

const NAMES: [&str; 24] = [
    "Ada Brandt",
    "Bruno Costa",
    "Chiara Rossi",
    "David Okafor",
    "Elif Demir",
    "Femke Visser",
    "Goran Novak",
    "Hana Suzuki",
    "Ines Moreau",
    "Jonas Weber",
    "Kaja Lund",
    "Luis Ortega",
    "Mira Patel",
    "Nils Berg",
    "Olga Petrova",
    "Pablo Ruiz",
    "Quentin Dubois",
    "Rosa Marino",
    "Sven Keller",
    "Tara Byrne",
    "Uwe Schulz",
    "Vera Horvat",
    "Wout Jansen",
    "Yuki Tanaka",
];
const PLACES: [(&str, &str); 6] = [
    ("DE", "Hamburg"),
    ("FR", "Lyon"),
    ("IT", "Torino"),
    ("NL", "Utrecht"),
    ("ES", "Valencia"),
    ("JP", "Kyoto"),
];
const TIERS: [&str; 3] = ["basic", "silver", "gold"];
const STATUSES: [&str; 4] = ["placed", "packed", "shipped", "delivered"];

/// One article of the shop.
pub(super) struct Product {
    pub(super) sku: &'static str,
    name: &'static str,
    category: &'static str,
    price_cents: u32,
    weight_grams: u32,
}

const fn product(
    sku: &'static str,
    name: &'static str,
    category: &'static str,
    price_cents: u32,
    weight_grams: u32,
) -> Product {
    Product {
        sku,
        name,
        category,
        price_cents,
        weight_grams,
    }
}

pub(super) const PRODUCTS: [Product; 10] = [
    product("MUG-RED", "Red stoneware mug", "mugs", 1490, 380),
    product("MUG-BLU", "Blue stoneware mug", "mugs", 1490, 380),
    product("MUG-XL", "Half-litre mug", "mugs", 1990, 560),
    product("CUP-ESP", "Espresso cup", "mugs", 890, 140),
    product("BEAN-ETH", "Ethiopia Guji, 1 kg", "coffee", 3290, 1020),
    product("BEAN-COL", "Colombia Huila, 1 kg", "coffee", 2890, 1020),
    product("BEAN-DEC", "Decaf house blend, 1 kg", "coffee", 2690, 1020),
    product("FIL-100", "Paper filters, 100 pieces", "brewing", 490, 150),
    product("POT-6", "Moka pot, six cups", "brewing", 3490, 780),
    product("GRIND-H", "Hand grinder", "brewing", 7900, 640),
];

/// A well-mixed number for `(topic, index)`: the same everywhere, without a random generator.
fn mix(topic: u32, index: u32) -> u32 {
    let mut x = topic.wrapping_mul(0x9E37_79B9) ^ index.wrapping_mul(0x85EB_CA6B);
    x ^= x >> 16;
    x = x.wrapping_mul(0x7FEB_352D);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846C_A68B);
    x ^ (x >> 16)
}

/// Picks one element for `(topic, index)`.
fn pick<T>(from: &[T], topic: u32, index: u32) -> Option<&T> {
    let length = u32::try_from(from.len()).ok()?;
    from.get(usize::try_from(mix(topic, index).checked_rem(length)?).ok()?)
}

/// The customer with number `n`, from 1.
pub(super) fn customer(n: u32) -> Option<Value> {
    let name = NAMES.get(usize::try_from(n.checked_sub(1)?).ok()?)?;
    let (country, city) = pick(&PLACES, 1, n)?;
    let email = format!("{}@example.org", name.to_lowercase().replace(' ', "."));
    Some(json!({
        "id": format!("c-{n}"),
        "name": name,
        "email": email,
        "country": country,
        "city": city,
        "tier": pick(&TIERS, 2, n)?,
        "since": format!("20{:02}-{:02}-{:02}", 18 + mix(3, n) % 8, 1 + mix(4, n) % 12, 1 + mix(5, n) % 28),
    }))
}

/// The number in an id such as `c-7`.
pub(super) fn customer_number(id: &str) -> Option<u32> {
    id.strip_prefix("c-")?
        .parse()
        .ok()
        .filter(|n| (1..=CUSTOMERS).contains(n))
}

/// The zero-based index in an id such as `o-1007`.
pub(super) fn order_index(id: &str) -> Option<u32> {
    id.strip_prefix("o-")?
        .parse::<u32>()
        .ok()?
        .checked_sub(FIRST_ORDER)
        .filter(|index| *index < ORDERS)
}

/// The order with this zero-based index; `refunded` overrides what it would say of its state.
pub(super) fn order(index: u32, refunded: bool) -> Option<Value> {
    let buyer = 1 + mix(10, index) % CUSTOMERS;
    let status = pick(&STATUSES, 11, index)?;
    let mut total = 0;
    let mut lines = Vec::new();
    for line in 0..=mix(12, index) % 3 {
        let article = pick(&PRODUCTS, 13 + line, index)?;
        let quantity = 1 + mix(20 + line, index) % 4;
        total += quantity * article.price_cents;
        lines
            .push(json!({ "sku": article.sku, "quantity": quantity, "unitPriceCents": article.price_cents }));
    }
    let shipped = matches!(*status, "shipped" | "delivered");
    Some(json!({
        "id": format!("o-{}", FIRST_ORDER + index),
        "customerId": format!("c-{buyer}"),
        "status": if refunded { "refunded" } else { status },
        "placedOn": format!("2026-{:02}-{:02}", 1 + index * 10 / ORDERS, 1 + mix(14, index) % 28),
        "lines": lines,
        "totalCents": total,
        "trackingCode": shipped.then(|| format!("TRK{:08}", mix(15, index) % 100_000_000)),
    }))
}

/// The article with this number.
pub(super) fn find_product(sku: &str) -> Option<&'static Product> {
    PRODUCTS.iter().find(|product| product.sku == sku)
}

impl Product {
    pub(super) fn is_in(&self, category: &str) -> bool {
        self.category == category
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "sku": self.sku,
            "name": self.name,
            "category": self.category,
            "priceCents": self.price_cents,
            "weightGrams": self.weight_grams,
        })
    }

    /// What the warehouse holds.
    pub(super) fn stock(&self) -> Value {
        let seed = self
            .sku
            .bytes()
            .fold(0, |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let on_hand = mix(30, seed) % 40;
        let reserved = mix(31, seed) % 15;
        let restock = (on_hand < reserved + 10).then(|| format!("2026-12-{:02}", 1 + mix(32, seed) % 20));
        json!({ "sku": self.sku, "onHand": on_hand, "reserved": reserved, "restockOn": restock })
    }
}

/// The grams an order weighs, from its own lines.
pub(super) fn weight_grams(order: &Value) -> u64 {
    let lines = order
        .get("lines")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    lines
        .iter()
        .filter_map(|line| {
            let article = find_product(line.get("sku")?.as_str()?)?;
            Some(line.get("quantity")?.as_u64()? * u64::from(article.weight_grams))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CUSTOMERS, ORDERS, customer, customer_number, order, order_index};

    #[test]
    fn the_shop_is_the_same_in_every_process() {
        assert_eq!(
            order(0, false),
            Some(json!({
                "id": "o-1001",
                "customerId": "c-10",
                "status": "placed",
                "placedOn": "2026-01-07",
                "lines": [
                    { "sku": "MUG-RED", "quantity": 4, "unitPriceCents": 1490 },
                    { "sku": "BEAN-DEC", "quantity": 1, "unitPriceCents": 2690 },
                    { "sku": "POT-6", "quantity": 2, "unitPriceCents": 3490 },
                ],
                "totalCents": 15630,
                "trackingCode": null,
            }))
        );
    }

    #[test]
    fn every_order_belongs_to_a_customer_and_adds_up() {
        for index in 0..ORDERS {
            let order = order(index, false).unwrap();
            assert_eq!(order_index(order["id"].as_str().unwrap()), Some(index));
            let buyer = customer_number(order["customerId"].as_str().unwrap()).unwrap();
            assert!(customer(buyer).is_some());
            let sum: u64 = order["lines"]
                .as_array()
                .unwrap()
                .iter()
                .map(|line| line["quantity"].as_u64().unwrap() * line["unitPriceCents"].as_u64().unwrap())
                .sum();
            assert_eq!(order["totalCents"], json!(sum));
        }
    }

    #[test]
    fn ids_outside_the_shop_are_unknown() {
        for id in ["o-1000", "o-1097", "o-", "1001", "o--1", "o-99999999999"] {
            assert_eq!(order_index(id), None, "{id}");
        }
        for id in ["c-0", "c-25", "c-", "C-1"] {
            assert_eq!(customer_number(id), None, "{id}");
        }
        assert!(customer(CUSTOMERS).is_some());
        assert!(customer(CUSTOMERS + 1).is_none());
    }
}
