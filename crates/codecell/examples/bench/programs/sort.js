let seed = 12345;
const list = Array.from({ length: 30000 }, () => (seed = (seed * 48271) % 2147483647));
list.sort((a, b) => a - b);
const words = list.map((n) => "w" + (n % 9973)).sort();
return [list[7], words[7]];
