//! attacks = halves of characters
//! expect.value = ["�","�x","😀",3]
const back = await tools.echo({ x: ["\ud800", "\udc00x", "\ud83d\ude00", "\ud83d".length + "\ud83d\ude00".length] });
return back;
