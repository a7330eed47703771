//! A plugin that is linked into a gateway: `codecell-shipping`, the program of `examples/shipping-plugin`.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    Steps,
    approvals::{SHORT_MS, answer, question},
    room::{Door, Room, expect_code, expect_equal, expect_status},
};

/// The program with the plugin, beside the one under test.
pub(super) const PROGRAM: &str = "codecell-shipping";

pub(super) fn play(steps: &mut Steps) {
    let program = steps.binary.with_file_name(PROGRAM);
    let mut play = |name: &str, step: fn(&Room) -> Result<()>| {
        steps.play_with(&program, name, |room| {
            ensure!(
                room.binary().exists(),
                "there is no `{}`: build it with `cargo build --workspace`",
                room.binary().display()
            );
            step(room)
        });
    };
    play(
        "the hooks of a plugin see each call once, nested, suspended or direct",
        hooks_once,
    );
    play(
        "a plugin's namespace is a global that survives suspension",
        namespace,
    );
    play("no forged path reaches a tool through a namespace", forged_paths);
    play(
        "a namespace is there with all of its tools, or not at all",
        all_or_nothing,
    );
    play(
        "a restart-safe cell calls no namespace, and replay-safe plugin tools by id",
        restart_safe,
    );
}

/// What the plugin's hooks have noted, as `[shipment, event, fromCell]`.
const NOTES: &str = "(await Shipping.log()).map(note => [note.shipment, note.event, note.fromCell])";

fn door(room: &Room, document: &Value) -> Result<Door> {
    room.door(&room.configuration(document)?)
}

fn hooks_once(room: &Room) -> Result<()> {
    let mut cells = door(room, &json!({}))?;
    let first = cells.exec(&format!(
        "await Shipping.promote(1, 'loaded'); \
         await tools.shipping_promote({{ id: 4, status: 'loaded' }}); \
         await yield_control(); \
         const refused = []; \
         for (const call of [() => Shipping.promote(2, 'loaded'), () => tools.call('openclaw:shipping:shipping_promote', {{ id: 3, status: 'loaded' }})]) \
           try {{ await call(); refused.push('called') }} catch (error) {{ refused.push(error.details.deniedReason) }} \
         return [refused, {NOTES}]"
    ))?;
    expect_status(&first, "waiting")?;
    let last = cells.wait(&first["runId"])?;
    expect_equal(
        &last["value"],
        &json!([
            ["plugin-before-tool-call", "plugin-before-tool-call"],
            [
                [1, "passed", true],
                [1, "promoted", true],
                [4, "passed", true],
                [4, "promoted", true],
                [2, "refused", true],
                [3, "refused", true]
            ]
        ]),
    )?;
    cells.close()?;
    asked_while_suspended(room)?;
    // Without code mode the model calls the tools itself, and meets the same hooks.
    let mut direct = door(room, &json!({ "tools": { "codeMode": false } }))?;
    for (id, fails) in [(1, false), (2, true)] {
        let arguments = json!({ "id": id, "status": "loaded" });
        let answer = direct.client.request(
            "tools/call",
            json!({ "name": "shipping_promote", "arguments": arguments }),
        )?;
        ensure!(
            answer["isError"].as_bool().unwrap_or(false) == fails,
            "shipment {id}: {answer}"
        );
    }
    let log = direct
        .client
        .request("tools/call", json!({ "name": "shipping_log", "arguments": {} }))?;
    let text = log["content"][0]["text"].as_str().context("no log")?;
    expect_equal(
        &serde_json::from_str(text).with_context(|| format!("the log is not JSON: {text}"))?,
        &json!([
            { "shipment": 1, "event": "passed", "fromCell": false },
            { "shipment": 1, "event": "promoted", "fromCell": false },
            { "shipment": 2, "event": "refused", "fromCell": false }
        ]),
    )?;
    direct.close()
}

/// A call that waits for a person while its cell is suspended asks no hook again when it goes on.
fn asked_while_suspended(room: &Room) -> Result<()> {
    let mut door = door(
        room,
        &json!({ "tools": {
            "codeMode": { "enabled": true, "timeoutMs": SHORT_MS },
            "approvals": { "ask": ["shipping_promote"] },
        } }),
    )?;
    let first = door.exec(&format!("await Shipping.promote(4, 'shipped'); return {NOTES}"))?;
    expect_status(&first, "waiting")?;
    answer(room, &question(room)?, &["allow"])?;
    let next = door.wait(&first["runId"])?;
    let last = door.settle(next)?;
    expect_equal(
        &last["value"],
        &json!([[4, "passed", true], [4, "promoted", true]]),
    )?;
    door.close()
}

fn namespace(room: &Room) -> Result<()> {
    let mut door = door(room, &json!({}))?;
    let description = door.listing("exec")?["description"].to_string();
    for words in ["Use Shipping.list(", "openclaw:shipping:shipping_promote"] {
        ensure!(
            description.contains(words),
            "exec does not say `{words}`: {description}"
        );
    }
    let first = door.exec(
        "const { list, limits } = Shipping; const before = await namespaces.Shipping.list({ paid: true }); \
         await Shipping.promote(1, 'loaded'); await yield_control(); \
         const moved = await namespaces.Shipping.promote(1, 'shipped'); \
         return [Shipping === namespaces.Shipping, Object.keys(namespaces), before.map(s => s.id), \
           (await list({ paid: false })).map(s => s.id), await Shipping.quote(2, true), await Shipping.unpaidOver(10), \
           moved.previous, limits.maxTons, Shipping.limits === limits]",
    )?;
    expect_status(&first, "waiting")?;
    let last = door.wait(&first["runId"])?;
    expect_status(&last, "completed")?;
    expect_equal(
        &last["value"],
        &json!([
            true,
            ["MCP", "Shipping"],
            [1, 4],
            [2, 3],
            { "cents": 36_000, "currency": "EUR" },
            [{ "id": 2, "paid": false, "tons": 30 }],
            "loaded",
            40,
            true
        ]),
    )?;
    expect_equal(&last["telemetry"]["callCount"], &json!(6))?;
    door.close()
}

fn forged_paths(room: &Room) -> Result<()> {
    let servers = json!({ "probe": room.probe("probe.log", &[])? });
    let mut door = door(room, &json!({ "mcp": { "servers": servers } }))?;
    let value = door.value(
        "const tried = []; \
         const attempt = async (call) => { try { tried.push(await call()) } catch (error) { tried.push(error.name) } }; \
         await attempt(() => Shipping.shipping_promote({ id: 2, status: 'loaded' })); \
         await attempt(() => Shipping.__proto__.list()); \
         await attempt(() => Shipping.constructor.constructor('return 1')()); \
         await attempt(() => Shipping.limits.promote(1, 'loaded')); \
         await attempt(() => Shipping['list.promote'](1, 'loaded')); \
         await attempt(() => MCP.Shipping.list()); \
         await attempt(() => { 'use strict'; Shipping.list = Shipping.promote }); \
         await attempt(() => { 'use strict'; Shipping.limits.maxTons = 99 }); \
         await attempt(() => Object.defineProperty(Shipping, 'more', { value: 1 }).more); \
         const forged = Object.assign(Shipping.quote, { path: ['Shipping', 'promote'], tool: 'shipping_promote' }); \
         for (const method of ['push', 'join', 'map', 'concat', 'slice']) Array.prototype[method] = () => ['Shipping', 'promote']; \
         Array.prototype.toJSON = Object.prototype.toJSON = () => ['Shipping', 'promote']; \
         JSON.stringify = () => '[\"Shipping\",\"promote\"]'; \
         Function.prototype.call = Function.prototype.apply = () => Shipping.promote(1, 'loaded'); \
         Promise.prototype.then = undefined; \
         const quoted = await forged(1); \
         return { tried, quoted, log: (await Shipping.log()).length }",
    )?;
    expect_equal(
        &value,
        &json!({
            "tried": ["TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError"],
            "quoted": { "cents": 9_000, "currency": "EUR" },
            "log": 0,
        }),
    )?;
    let refused = door.value(
        "const tried = []; \
         for (const call of [() => Shipping.unpaidOver(), () => Shipping.quote('2'), () => Shipping.quote(), () => Shipping.promote(1, 'lost'), () => Shipping.list(7)]) \
           try { await call(); tried.push('called') } catch (error) { tried.push(error.code) } \
         return [tried, (await Shipping.log()).length]",
    )?;
    let no = "invalid_input";
    expect_equal(&refused, &json!([[no, no, no, no, no], 0]))?;
    door.close()
}

fn all_or_nothing(room: &Room) -> Result<()> {
    let look = "return [typeof Shipping, Object.keys(namespaces), ALL_TOOLS.map(tool => tool.name)]";
    for (document, expected) in [
        // A namespace without one of its tools would promise what it cannot do.
        (
            json!({ "tools": { "deny": ["shipping_log"] } }),
            json!([
                "undefined",
                ["MCP"],
                ["shipping_list", "shipping_promote", "shipping_quote"]
            ]),
        ),
        (
            json!({ "tools": { "deny": ["shipping"] } }),
            json!(["undefined", ["MCP"], []]),
        ),
        (
            json!({ "plugins": { "entries": { "shipping": { "enabled": false } } } }),
            json!(["undefined", ["MCP"], []]),
        ),
    ] {
        let mut door = door(room, &document)?;
        expect_equal(&door.value(look)?, &expected).with_context(|| document.to_string())?;
        let description = door.listing("exec")?["description"].to_string();
        ensure!(!description.contains("Shipping."), "{document}: {description}");
        door.close()?;
    }
    Ok(())
}

fn restart_safe(room: &Room) -> Result<()> {
    let mut door = door(room, &json!({}))?;
    for call in ["Shipping.list()", "namespaces.Shipping.promote(1, 'loaded')"] {
        let result = door.exec_restart_safe(&format!("return await {call}"))?;
        expect_code(&result, "invalid_input")?;
        expect_equal(
            &result["error"],
            &json!("restart-safe code mode cannot call plugin namespaces. Run the cell without restartSafe."),
        )?;
    }
    let refused =
        door.exec_restart_safe("return await tools.shipping_promote({ id: 1, status: 'loaded' })")?;
    expect_code(&refused, "invalid_input")?;
    let first = door.exec_restart_safe(
        "return (await tools.callValue('openclaw:shipping:shipping_list', { paid: true })).length",
    )?;
    expect_status(&first, "waiting")?;
    expect_equal(&first["replaySafe"], &json!(true))?;
    expect_equal(&door.wait(&first["runId"])?["value"], &json!(2))?;
    expect_equal(&door.value(&format!("return {NOTES}"))?, &json!([]))?;
    door.close()
}
