//! expect.fault = output
//! expect.output = [{"overflow":24,"more":262149}]
text({ rows: Array.from({ length: 100 }, (_, id) => ({ id, name: "x".repeat(1 << 18) })) });
