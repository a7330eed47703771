//! expect.value = {"process":"undefined","names":[],"stack":"undefined","import":"refused","shared":["undefined","undefined"]}
const known = new Set(["tools", "ALL_TOOLS", "API", "text", "json", "yield_control", "namespaces", "MCP", "Issues"]);
const names = Object.keys(globalThis).filter((name) => !known.has(name));
let functions;
Error.prepareStackTrace = (error, sites) => { functions = sites[0].getFunction(); return "x"; };
Error.stackTraceLimit = 0;
try { tools.describe(Symbol()); null.x; } catch (error) { error.stack; }
let imported = "worked";
try { await import("fs"); } catch { imported = "refused"; }
return {
  process: this.constructor.constructor("return typeof process")(), names, stack: typeof functions, import: imported,
  shared: [typeof SharedArrayBuffer, typeof Atomics],
};
