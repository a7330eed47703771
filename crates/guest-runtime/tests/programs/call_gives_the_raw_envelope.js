//! expect.value = {"tool":{"id":"openclaw:core:echo"},"result":5}
return await tools.call("openclaw:core:echo", 5);
