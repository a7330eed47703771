//! expect.value = ["b","fast"]
const slow = new Promise((resolve) => setTimeout(resolve, 50, "slow"));
const fast = new Promise((resolve) => setTimeout(resolve, 5, "fast"));
const first = await Promise.race([tools.echo("b"), slow]);
return [first, await Promise.race([slow, fast])];
