const lines = Array.from({ length: 4000 }, (_, i) => `2024-0${1 + (i % 9)}-1${i % 10} user${i}@example.com GET /items/${i * 7}?q=${i} 200`);
const pattern = /^(\d{4})-(\d\d)-(\d\d) ([\w.]+)@([\w.]+) (GET|POST) (\/[^ ?]*)(?:\?(\S*))? (\d{3})$/;
let found = 0;
for (const line of lines) { const match = pattern.exec(line); if (match && match[9] === "200") found += match[7].length; }
return found + lines.join("\n").replace(/[aeiou]+/g, "").length;
