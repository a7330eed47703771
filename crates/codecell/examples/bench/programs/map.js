const counts = new Map();
for (let i = 0; i < 60000; i++) { const key = "k" + (i * 31) % 5003; counts.set(key, (counts.get(key) ?? 0) + 1); }
const seen = new Set();
for (const [key, count] of counts) if (count > 11) seen.add(key.length * count);
const object = {};
for (let i = 0; i < 60000; i++) { const key = "p" + (i % 997); object[key] = (object[key] || 0) + i; }
return [counts.size, seen.size, Object.keys(object).length];
