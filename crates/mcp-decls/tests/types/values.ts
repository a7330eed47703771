// Values that must fit the declarations of `fixtures/mcp/nasty.json`, and values that must not.
//
// `cargo xtask decls` compiles it together with the declarations. A line under `@ts-expect-error` that compiles is
// an error, so this file fails in both directions.
export {};

const { nasty, time, memory } = MCP;

// No arguments: none, an empty object, nothing else.
nasty.schema_closed();
nasty.schema_closed({});
// @ts-expect-error a tool without parameters takes no property
nasty.schema_closed({ a: 1 });
// @ts-expect-error arguments are one object
nasty.schema_closed("text");

// Required, optional, undeclared.
nasty.ghost({ seen: "a", unseen: [1] });
// @ts-expect-error `unseen` is required, though not declared
nasty.ghost({ seen: "a" });
// @ts-expect-error a silent schema invites no further property
nasty.ghost({ seen: "a", unseen: 1, other: 1 });
nasty.odd_names({ "with-dash": "a", $ref: "b", "If-Match": "c", "*/": "d", "\u202e": "e" });
// @ts-expect-error a quoted property has its type
nasty.odd_names({ "with-dash": 1, $ref: "b" });
nasty.language_names({ class: "a", constructor: "b" });
nasty.language_names({});

// Unions and intersections.
nasty.one_of_root({ by: "id", id: 1 });
nasty.one_of_root({ by: "name", name: "a" });
// @ts-expect-error the other member's property
nasty.one_of_root({ by: "id", name: "a" });
nasty.all_of_root({ a: "x", b: 1, c: true });
// @ts-expect-error required by one part of the intersection
nasty.all_of_root({ b: 1 });
nasty.all_of_refs({ x: { id: 1, extra: "a" }, y: { id: 2 } });
// @ts-expect-error required beside the reference
nasty.all_of_refs({ x: { id: 1 } });
nasty.either_required({ url: "a" });
nasty.either_required({ path: "a" });
// @ts-expect-error one of two is required
nasty.either_required({});
// @ts-expect-error and has the type declared beside
nasty.either_required({ url: 1 });
nasty.condition({ mode: "fast", limit: 1 });
nasty.condition({ mode: "safe" });
// @ts-expect-error `fast` needs a limit, `safe` has none
nasty.condition({ mode: "safe", limit: 1 });
nasty.negation({ a: 1, b: "x", c: "x" });
// @ts-expect-error anything but a string
nasty.negation({ a: "x" });
// @ts-expect-error nothing at all
nasty.negation({ d: 1 });

// References.
nasty.itself({ child: { child: {}, children: [{}, { child: {} }] } });
// @ts-expect-error on every level
nasty.itself({ child: { children: [{ child: 1 }] } });
nasty.in_turns({ left: { right: { left: { n: 1 }, s: "a" } } });
// @ts-expect-error through the circle
nasty.in_turns({ left: { right: { left: { n: "1" } } } });
nasty.alias_round({ a: 1, u: "a", m: { x: 1 } });
// @ts-expect-error what is left of a union that names itself
nasty.alias_round({ u: 1 });
nasty.pointers({ one: 1, two: "a" });
// @ts-expect-error a pointer with escapes has its target's type
nasty.pointers({ one: "a" });
nasty.nowhere({ a: 1, b: "x" });
nasty.anchors({ a: "a", b: 1, c: true });
// @ts-expect-error an anchor inside an identified part
nasty.anchors({ c: "a" });
nasty.dictionary_of_itself({ tree: { a: {}, b: { c: {} } } });
// @ts-expect-error a dictionary of itself holds nothing else
nasty.dictionary_of_itself({ tree: { a: 1 } });

// Arrays, dictionaries, constants, types.
nasty.arrays({ old: [], new: ["a", 1], open: ["a", 1, 2], four: [1, 2, 3, 4], some: ["a"], none: [], either: ["a", null] });
// @ts-expect-error an array of a union
nasty.arrays({ either: "a" });
// @ts-expect-error the order of a tuple
nasty.arrays({ new: [1, "a"] });
// @ts-expect-error a closed tuple
nasty.arrays({ old: [1, 2, 3] });
// @ts-expect-error four are four
nasty.arrays({ four: [1, 2, 3] });
// @ts-expect-error at least one
nasty.arrays({ some: [] });
nasty.maps({ any: { a: [] }, none: {}, numbers: { a: 1 }, mixed: { id: "a", n: 1 }, prefixed: { "x-a": "b" }, keys: { red: true }, open: { b: 1 } });
// @ts-expect-error the values of a dictionary
nasty.maps({ numbers: { a: "1" } });
// @ts-expect-error a closed object
nasty.maps({ none: { a: 1 } });
// @ts-expect-error a prefix
nasty.maps({ prefixed: { y: "b" } });
// @ts-expect-error the only names there are
nasty.maps({ keys: { green: true } });
nasty.literals({ mixed: { k: ["v"] }, null: null, big: 9007199254740993n, object: { a: { b: 1 } }, true: true, nullable: null });
nasty.literals({ mixed: null });
nasty.literals({ mixed: "*/" });
// @ts-expect-error a member that is not in the list
nasty.literals({ mixed: "b" });
// @ts-expect-error a rounded neighbour
nasty.literals({ big: 9007199254740992n });
// @ts-expect-error no value is allowed
nasty.literals({ nothing: 1 });
nasty.types({ maybe: null, four: [1], wide: 1n, strange: {}, openapi: null, shaped: { a: "x" } });
// @ts-expect-error null, and no other absence
nasty.types({ maybe: 1 });
nasty.deep({ a: { a: { a: { a: { a: {} } } } } });
// @ts-expect-error deep inside
nasty.deep({ a: { a: { a: { a: { a: 1 } } } } });

// Results.
async function results() {
  const list: string[] = (await nasty.out_array()).structuredContent;
  const maybe: string | null = (await nasty.out_maybe()).structuredContent;
  const either = (await nasty.out_either()).structuredContent;
  const text: string = either.ok ? either.value : either.error;
  const node = (await nasty.out_itself()).structuredContent;
  const name: string | undefined = node.children?.[0]?.children?.[0]?.name;
  // @ts-expect-error an optional property may be absent
  const sure: string = node.children[0].name;
  for (const block of (await time.get_current_time({ timezone: "UTC" })).content) {
    if (block.type === "text") block.text.trim();
  }
  const { resources } = await memory.resources.list();
  const { contents } = await memory.resources.read({ uri: resources[0].uri });
  const hits = await MCP.$search("create an issue", { limit: 3 });
  const header: string = (await nasty.$api("itself", { schema: true })).header;
  return [list, maybe, text, name, sure, contents[0].text, hits[0].path, header];
}
void results;
