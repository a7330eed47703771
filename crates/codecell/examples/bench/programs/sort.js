let seed = 12345;
const list = Array.from({ length: 30000 }, () => (seed = (seed * 1103515245 + 12345) % 2147483648));
list.sort((a, b) => a - b);
const words = list.map((n) => "w" + (n % 9973)).sort();
return [list[7], words[7]];
