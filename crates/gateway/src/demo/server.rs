//! `codecell demo-server`: a small shop as an MCP server over stdio, for the demonstration and for tests.
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptArgument,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData as McpError, RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::{Value, json};

use super::shop;

/// The tool list, as it goes over the wire.
const TOOLS: &str = include_str!("tools.json");
/// The picture that every product has: 16 by 16 pixels, a mug.
const PHOTO: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAARUlEQVR42mP49eUZSYgBq+imEAM0Bj4NeFTjtIEoJwHNw4PoogFCkmYDkEFLDeQ4CT0eCKrGEnH4VVMQ0/g9gGwVyTYAAAb9K+8K7XWOAAAAAElFTkSuQmCC";
const RETURNS_URI: &str = "shop://policies/returns";
const RETURNS: &str = "# Returns\n\nUnused goods can come back within 30 days. Coffee can come back unopened. \
    Refunds over 100.00 EUR need a person's approval.\n";
/// How often the slow report says how far it is, and looks whether it is still wanted.
const REPORT_STEP: Duration = Duration::from_millis(100);

/// The shop as an MCP server.
#[derive(Clone)]
pub(crate) struct ShopServer {
    tools: Arc<Vec<Tool>>,
    refunded: Arc<Mutex<BTreeSet<u32>>>,
}

/// Why a call has no value: the text the model reads.
struct Refusal(String);

impl ShopServer {
    pub(crate) fn new() -> serde_json::Result<Self> {
        Ok(Self {
            tools: Arc::new(serde_json::from_str(TOOLS)?),
            refunded: Arc::default(),
        })
    }

    fn order(&self, id: &str) -> Result<Value, Refusal> {
        let unknown = || {
            Refusal(format!(
                "no order has the id `{id}`; ids run from o-1001 to o-1096"
            ))
        };
        let index = shop::order_index(id).ok_or_else(unknown)?;
        shop::order(index, self.is_refunded(index)).ok_or_else(unknown)
    }

    fn is_refunded(&self, index: u32) -> bool {
        self.refunded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&index)
    }

    fn orders(&self) -> impl Iterator<Item = Value> {
        (0..shop::ORDERS).filter_map(|index| shop::order(index, self.is_refunded(index)))
    }

    /// The structured value of every tool that answers at once.
    fn value(&self, name: &str, arguments: Value) -> Result<Value, Refusal> {
        match name {
            "list_customers" => {
                let Filter { country, tier } = read(arguments)?;
                let customers: Vec<Value> = (1..=shop::CUSTOMERS)
                    .filter_map(shop::customer)
                    .filter(|customer| fits(customer, "country", &country) && fits(customer, "tier", &tier))
                    .collect();
                Ok(json!({ "customers": customers }))
            }
            "get_customer" => {
                let OfCustomer { customer_id } = read(arguments)?;
                shop::customer_number(&customer_id)
                    .and_then(shop::customer)
                    .ok_or_else(|| {
                        Refusal(format!(
                            "no customer has the id `{customer_id}`; ids run from c-1 to c-24"
                        ))
                    })
            }
            "list_orders" => {
                let OrderFilter {
                    customer_id,
                    status,
                    limit,
                } = read(arguments)?;
                let orders: Vec<Value> = self
                    .orders()
                    .filter(|order| fits(order, "customerId", &customer_id) && fits(order, "status", &status))
                    .take(limit.unwrap_or(100).clamp(1, 200))
                    .collect();
                Ok(json!({ "orders": orders }))
            }
            "get_order" => {
                let OfOrder { order_id } = read(arguments)?;
                self.order(&order_id)
            }
            "list_products" => {
                let OfCategory { category } = read(arguments)?;
                let products: Vec<Value> = shop::PRODUCTS
                    .iter()
                    .filter(|product| category.as_ref().is_none_or(|category| product.is_in(category)))
                    .map(shop::Product::to_json)
                    .collect();
                Ok(json!({ "products": products }))
            }
            "stock_level" => {
                let OfProduct { sku } = read(arguments)?;
                Ok(find_product(&sku)?.stock())
            }
            "shipping_quote" => {
                let Quote { order_id, express } = read(arguments)?;
                self.quote(&order_id, express)
            }
            "refund_order" => {
                let Refund { order_id, reason } = read(arguments)?;
                self.refund(&order_id, reason)
            }
            "flaky_payment_status" => {
                let OfOrder { order_id } = read(arguments)?;
                self.order(&order_id)?;
                Err(Refusal(
                    "the payment provider did not answer within 2 s (503); try again later".into(),
                ))
            }
            "echo" => {
                let Echo { value } = read(arguments)?;
                Ok(json!({ "value": value }))
            }
            _ => Err(Refusal(format!("no tool has the name `{name}`"))),
        }
    }

    fn quote(&self, order_id: &str, express: bool) -> Result<Value, Refusal> {
        let order = self.order(order_id)?;
        let country = order
            .get("customerId")
            .and_then(Value::as_str)
            .and_then(shop::customer_number)
            .and_then(shop::customer)
            .and_then(|customer| customer.get("country").cloned())
            .unwrap_or_default();
        let grams = shop::weight_grams(&order);
        let days = if country == "JP" { 12 } else { 4 };
        let price = 390 + grams / 10 + if country == "JP" { 1400 } else { 0 };
        Ok(json!({
            "orderId": order_id,
            "country": country,
            "grams": grams,
            "priceCents": if express { price * 2 } else { price },
            "days": if express { days / 4 } else { days },
        }))
    }

    fn refund(&self, order_id: &str, reason: String) -> Result<Value, Refusal> {
        let order = self.order(order_id)?;
        let first_time = shop::order_index(order_id).is_some_and(|index| {
            self.refunded
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(index)
        });
        if !first_time {
            return Err(Refusal(format!("order `{order_id}` was refunded before")));
        }
        Ok(json!({ "orderId": order_id, "refundedCents": order.get("totalCents"), "reason": reason }))
    }

    /// The slow tool: counts its way through `seconds`, telling how far it is.
    async fn report(&self, arguments: Value, context: &RequestContext<RoleServer>) -> Result<Value, Refusal> {
        let Report { month, seconds } = read(arguments)?;
        let wanted = Duration::try_from_secs_f64(seconds.clamp(0.0, 60.0)).unwrap_or_default();
        let started = tokio::time::Instant::now();
        while started.elapsed() < wanted {
            if let Some(token) = context.meta.get_progress_token() {
                let percent = (started.elapsed().as_secs_f64() / wanted.as_secs_f64() * 100.0).floor();
                let progress = ProgressNotificationParam::new(token, percent)
                    .with_total(100.0)
                    .with_message("adding up orders");
                // A caller that has gone away cancels the request itself.
                let _unsent = context.peer.notify_progress(progress).await;
            }
            tokio::select! {
                () = tokio::time::sleep(REPORT_STEP.min(wanted.saturating_sub(started.elapsed()))) => {}
                () = context.ct.cancelled() => return Err(Refusal("the report was cancelled".into())),
            }
        }
        let prefix = format!("2026-{month:02}");
        let orders: Vec<Value> = self
            .orders()
            .filter(|order| text(order, "placedOn").starts_with(&prefix))
            .collect();
        let revenue: u64 = orders
            .iter()
            .filter_map(|order| order.get("totalCents")?.as_u64())
            .sum();
        Ok(
            json!({ "month": prefix, "orders": orders.len(), "revenueCents": revenue, "bestSeller": best_seller(&orders) }),
        )
    }
}

/// The article that was ordered most often; of equals, the first by number.
fn best_seller(orders: &[Value]) -> Option<String> {
    let mut pieces = std::collections::BTreeMap::<&str, u64>::new();
    for line in orders
        .iter()
        .filter_map(|order| order.get("lines")?.as_array())
        .flatten()
    {
        *pieces.entry(text(line, "sku")).or_default() +=
            line.get("quantity").and_then(Value::as_u64).unwrap_or(0);
    }
    let (sku, _) = pieces.into_iter().rev().max_by_key(|(_, quantity)| *quantity)?;
    Some(sku.to_owned())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn fits(value: &Value, key: &str, wanted: &Option<String>) -> bool {
    wanted.as_ref().is_none_or(|wanted| text(value, key) == wanted)
}

fn find_product(sku: &str) -> Result<&'static shop::Product, Refusal> {
    shop::find_product(sku).ok_or_else(|| {
        Refusal(format!(
            "no product has the number `{sku}`; list_products knows them"
        ))
    })
}

fn read<'de, T: Deserialize<'de>>(arguments: Value) -> Result<T, Refusal> {
    T::deserialize(arguments).map_err(|error| Refusal(format!("the arguments do not fit: {error}")))
}

macro_rules! arguments {
    ($($name:ident { $($(#[$meta:meta])* $field:ident: $type:ty),* $(,)? })*) => {
        $(
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct $name { $($(#[$meta])* $field: $type),* }
        )*
    };
}

arguments! {
    Filter { country: Option<String>, tier: Option<String> }
    OfCustomer { customer_id: String }
    OrderFilter { customer_id: Option<String>, status: Option<String>, limit: Option<usize> }
    OfOrder { order_id: String }
    OfCategory { category: Option<String> }
    OfProduct { sku: String }
    Quote { order_id: String, #[serde(default)] express: bool }
    Refund { order_id: String, reason: String }
    Report { month: u32, #[serde(default = "three")] seconds: f64 }
    Echo { value: Value }
}

fn three() -> f64 {
    3.0
}

impl ServerHandler for ShopServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(
                "codecell-demo-shop",
                env!("CARGO_PKG_VERSION"),
            ))
            .with_instructions("A small shop with made-up data. Amounts are euro cents.")
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, McpError> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, McpError> {
        if !self.tools.iter().any(|tool| tool.name == request.name) {
            return Err(McpError::invalid_params(
                format!("no tool has the name `{}`", request.name),
                None,
            ));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let value = match &*request.name {
            "build_report" => self.report(arguments, &context).await,
            "product_photo" => {
                let photo = read(arguments).and_then(|OfProduct { sku }| find_product(&sku));
                if photo.is_ok() {
                    let content = vec![ContentBlock::image(PHOTO, "image/png")];
                    return Ok(CallToolResult::success(content).into());
                }
                photo.map(|_| Value::Null)
            }
            name => self.value(name, arguments),
        };
        Ok(match value {
            Ok(value) => CallToolResult::structured(value).into(),
            Err(Refusal(message)) => CallToolResult::error(vec![ContentBlock::text(message)]).into(),
        })
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, McpError> {
        let returns = Resource::new(RETURNS_URI, "returns")
            .with_title("Return policy")
            .with_mime_type("text/markdown");
        Ok(ListResourcesResult::with_all_items(vec![returns]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, McpError> {
        if request.uri != RETURNS_URI {
            return Err(McpError::resource_not_found(
                format!("no resource has the uri `{}`", request.uri),
                None,
            ));
        }
        let contents = ResourceContents::text(RETURNS, RETURNS_URI).with_mime_type("text/markdown");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, McpError> {
        let argument = PromptArgument::new("customer_id")
            .with_description("For example c-7")
            .with_required(true);
        let prompt = Prompt::new(
            "customer_letter",
            Some("A friendly letter to one customer"),
            Some(vec![argument]),
        );
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, McpError> {
        if request.name != "customer_letter" {
            return Err(McpError::invalid_params(
                format!("no prompt has the name `{}`", request.name),
                None,
            ));
        }
        let customer = request
            .arguments
            .as_ref()
            .and_then(|arguments| shop::customer_number(arguments.get("customer_id")?.as_str()?))
            .and_then(shop::customer)
            .ok_or_else(|| McpError::invalid_params("`customer_id` names no customer", None))?;
        let letter = format!("Write a short, friendly letter to {}.", text(&customer, "name"));
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, letter)]).into())
    }
}
