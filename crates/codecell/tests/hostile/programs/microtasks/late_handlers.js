//! attacks = rejections that are handled one turn late
//! expect.value = ["late",100]
const all = Array.from({ length: 100 }, (_, i) => Promise.reject(i));
await tools.echo({ x: 1 });
const late = await Promise.allSettled(all);
return [late[0].status === "rejected" ? "late" : "", late.length];
