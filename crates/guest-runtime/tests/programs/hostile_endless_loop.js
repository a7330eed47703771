//! timeout_ms = 200
//! expect.fault = deadline
try { while (true) {} } catch {} finally { return "escaped"; }
