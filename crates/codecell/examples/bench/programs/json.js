const rows = Array.from({ length: 2000 }, (_, id) => ({ id, name: `row ${id}`, tags: ["a", "b"], at: { x: id / 3, y: null } }));
let bytes = 0;
for (let i = 0; i < 5; i++) {
  const text = JSON.stringify(rows);
  bytes += text.length + JSON.parse(text).length;
}
return bytes;
