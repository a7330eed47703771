//! Names a namespace cannot take, because a cell already has them.

/// Names with a meaning of their own in code mode, and the two that the language looks up on any object.
const RESERVED: &[&str] = &[
    "ALL_TOOLS",
    "API",
    "Array",
    "Boolean",
    "Date",
    "Error",
    "JSON",
    "MCP",
    "Map",
    "Math",
    "Number",
    "Object",
    "Promise",
    "Set",
    "String",
    "agents",
    "globalThis",
    "json",
    "log",
    "namespaces",
    "phase",
    "text",
    "then",
    "toJSON",
    "tools",
    "yield_control",
];

/// How names begin that the product keeps for itself.
const RESERVED_PREFIXES: &[&str] = &["__openclaw", "__codecell"];

/// What else the global object of a cell has, owns or inherits, and the module names that a program is refused for.
const GLOBALS: &[&str] = &[
    "AggregateError",
    "ArrayBuffer",
    "AsyncDisposableStack",
    "Atomics",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "DOMException",
    "DataView",
    "DisposableStack",
    "EvalError",
    "FinalizationRegistry",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Function",
    "Infinity",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "InternalError",
    "Intl",
    "Iterator",
    "NaN",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "SharedArrayBuffer",
    "SuppressedError",
    "Symbol",
    "SyntaxError",
    "Temporal",
    "TextDecoder",
    "TextEncoder",
    "TypeError",
    "URIError",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "WebAssembly",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "atob",
    "btoa",
    "clearTimeout",
    "console",
    "constructor",
    "crypto",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "eval",
    "exports",
    "hasOwnProperty",
    "isFinite",
    "isNaN",
    "isPrototypeOf",
    "module",
    "parseFloat",
    "parseInt",
    "performance",
    "process",
    "propertyIsEnumerable",
    "prototype",
    "queueMicrotask",
    "require",
    "setTimeout",
    "structuredClone",
    "toLocaleString",
    "toString",
    "undefined",
    "unescape",
    "valueOf",
];

/// Whether code mode keeps `name` for itself.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok() || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether the global object of a cell has `name` already.
pub(crate) fn is_global(name: &str) -> bool {
    GLOBALS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn the_lists_are_sorted_and_share_nothing() {
        assert!(RESERVED.is_sorted());
        assert!(GLOBALS.is_sorted());
        assert_eq!(
            GLOBALS.iter().find(|name| is_reserved(name)),
            None,
            "one reason is enough"
        );
    }

    /// Reads the names out of the program that makes the globals, so that a new one cannot be forgotten here.
    #[test]
    fn every_global_that_the_guest_defines_is_taken() {
        let prelude = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest/src/prelude");
        let mut found = Vec::new();
        for file in fs::read_dir(prelude).unwrap() {
            let program = fs::read_to_string(file.unwrap().path()).unwrap();
            for (at, call) in program.match_indices("(globalThis, '") {
                let rest = &program[at + call.len()..];
                found.push(rest[..rest.find('\'').unwrap()].to_owned());
            }
        }
        assert!(
            found.len() > 10,
            "the prelude defines its globals in another way: {found:?}"
        );
        found.retain(|name| !is_reserved(name) && !is_global(name));
        assert_eq!(found, [""; 0]);
    }
}
