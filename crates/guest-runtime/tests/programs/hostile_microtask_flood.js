//! timeout_ms = 200
//! expect.fault = deadline
const answer = tools.callValue("openclaw:core:never");
(async () => { for (;;) await null; })();
return await answer;
