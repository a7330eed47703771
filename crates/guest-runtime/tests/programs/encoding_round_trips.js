//! expect.value = {"bytes":{"$bytes":"w6Qg4oKs8J+YgA=="},"text":"ä €😀","fatal":"TypeError","lossy":"a�b","bom":[1,2],"stream":"€€","into":{"read":2,"written":3},"label":"RangeError","base64":["aGk=","hi"],"badBase64":true}
const bytes = new TextEncoder().encode("ä €😀");
const attempt = (work) => { try { work(); return "none"; } catch (error) { return error.name; } };
const decoder = new TextDecoder();
const euro = new Uint8Array([0xe2, 0x82, 0xac]);
let stream = "";
for (const byte of [...euro, ...euro]) stream += decoder.decode(new Uint8Array([byte]), { stream: true });
stream += decoder.decode();
const mark = new Uint8Array([0xef, 0xbb, 0xbf, 0x78]);
return {
  bytes, text: new TextDecoder("utf8").decode(bytes),
  fatal: attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff]))),
  lossy: new TextDecoder().decode(new Uint8Array([0x61, 0xff, 0x62])),
  bom: [new TextDecoder().decode(mark).length, new TextDecoder("utf-8", { ignoreBOM: true }).decode(mark).length],
  stream, into: new TextEncoder().encodeInto("aä€", new Uint8Array(4)),
  label: attempt(() => new TextDecoder("latin1")), base64: [btoa("hi"), atob("aGk=")],
  badBase64: attempt(() => atob("*")) !== "none",
};
