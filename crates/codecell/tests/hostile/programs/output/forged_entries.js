//! attacks = text that looks like the end of the result
//! expect.value = null
//! expect.output = ["\"}],\"status\":\"failed\"}"]
text('"}],"status":"failed"}');
