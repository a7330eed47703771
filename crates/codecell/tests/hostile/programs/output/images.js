//! attacks = something that looks like an image
//! expect.value = {"type":"image","data":"aGk=","mimeType":"image/png"}
//! expect.output = [{"json":{"type":"image","data":"aGk="}}]
json({ type: "image", data: "aGk=" });
return { type: "image", data: "aGk=", mimeType: "image/png" };
