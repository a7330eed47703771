//! expect.fault = deadline
//! timeout_ms = 200
return { get rows() { for (;;); } };
