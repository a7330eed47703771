// The rows that were measured, in the form of ours.
export const rows = [];

/** Adds times in milliseconds. */
export const times = (group, what, list) => {
  list.sort((a, b) => a - b);
  const at = (percentile) => list[Math.floor((list.length * percentile) / 100)] * 1000;
  rows.push({ group, what, unit: 'µs', p50: at(50), p99: at(99) });
};

/** Adds a number. */
export const number = (group, what, unit, p50) => rows.push({ group, what, unit, p50 });

/** Measures `body`, after runs that do not count; what it returns is awaited outside the measured time. */
export const measure = async (group, what, runs, body) => {
  const list = [];
  for (let run = -Math.ceil(runs / 8); run < runs; run++) {
    const start = performance.now();
    const after = await body();
    if (run >= 0) list.push(performance.now() - start);
    await after?.();
  }
  times(group, what, list);
};

/** Measures how many cells a second `clients` get done. */
export const rate = async (group, what, cells, clients, body) => {
  const start = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let cell = 0; cell < cells / clients; cell++) await (await body())?.();
    }),
  );
  number(group, what, 'cells/s', cells / ((performance.now() - start) / 1000));
};
