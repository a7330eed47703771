//! attacks = files that are not there, by paths that lead out
//! expect.value = ["Error","Error","Error","Error","Error","Error"]
//! expect.started = 0
const paths = ["../etc/passwd", "mcp/../../x", "/etc/passwd", "mcp/%2e%2e/x", "mcp/\u0000", "mcp/" + "x/".repeat(10000)];
return await Promise.all(paths.map((path) => API.read(path).then(() => "read", (error) => error.constructor.name)));
