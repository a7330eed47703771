let sum = 0;
for (let i = 0; i < 700000; i++) { sum = (sum + i * 7) % 1000003; if (i & 1) sum ^= i; }
return sum;
