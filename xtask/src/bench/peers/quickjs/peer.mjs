// The same programs under `quickjs-wasi`. Prints rows in the form of ours.
// Arguments: `alone` or `workers`, the group, the folder of the programs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measure, number, rate, rows, times } from './rows.mjs';

const [way, group, folder] = process.argv.slice(2);
const module = readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm')));
const wasm = await WebAssembly.compile(module);
const alone = way === 'alone';
const { exec, suspend, resume } = (await import(alone ? './alone.mjs' : './workers.mjs')).host(wasm);

// A worker takes milliseconds, and is measured less often.
const runs = alone ? 400 : 60;

const cells = async () => {
  const trivial = () => exec('return 1+1');
  await measure(group, 'fresh VM, `return 1+1`', runs, trivial);
  for (const tool of ['tool_1', 'later']) {
    const later = tool === 'later';
    const call = `tools.callValue('openclaw:core:${tool}', { i })`;
    for (const calls of [0, 1, 10, 100]) {
      const body = `for (let i = 0; i < ${calls}; i++) await ${call}; return 1`;
      const what = `${calls} calls of \`${tool}\`, one after the other`;
      await measure(group, what, runs, () => exec(body, true, later));
    }
    for (const calls of [10, 100]) {
      const body = `await Promise.all(Array.from({ length: ${calls} }, (_, i) => ${call})); return 1`;
      await measure(group, `${calls} calls of \`${tool}\` at once`, runs, () => exec(body, true, later));
    }
  }
  for (const clients of [1, 16]) {
    await rate(group, `\`return 1+1\`, ${clients} at a time`, 4 * runs, clients, trivial);
  }
};

const cpu = async () => {
  for (const name of ['fib', 'loops', 'json', 'sort', 'strings', 'regex', 'map']) {
    const body = readFileSync(join(folder, `${name}.js`), 'utf8');
    await measure(group, name, 25, () => exec(body));
  }
};

const small = 'const rows = [1];';
const kept = [
  ['a small cell', small, runs],
  [
    'a cell with 1,000 objects',
    'const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: `row ${id}` }));',
    runs,
  ],
  [
    'a cell with 10 MiB of text',
    'const rows = Array.from({ length: 160 }, (_, id) => String(id % 10).repeat(65536));',
    runs / 8,
  ],
];
const waits = (keep) => `${keep} await yield_control(); return rows.length`;

const resident = async () => {
  const images = [];
  await suspend(waits(small));
  globalThis.gc();
  const before = process.memoryUsage.rss();
  for (const count of [1, 64, 1000]) {
    while (images.length < count) images.push((await suspend(waits(small))).bytes);
    globalThis.gc();
    const more = Math.max(0, process.memoryUsage.rss() - before);
    number(group, `${count} suspended small cells`, 'MiB more', more / (1024 * 1024));
  }
};

const images = async () => {
  // In the workers' case the images are the same, and lie in the same thread.
  if (alone) {
    await resident();
    for (const [what, keep] of kept) {
      const { bytes } = await suspend(waits(keep));
      number(group, `image of ${what}`, 'KiB', bytes.length / 1024);
    }
  }
  for (const [what, keep, runs] of kept) {
    const parked = [];
    const resumed = [];
    for (let run = -Math.ceil(runs / 8); run < runs; run++) {
      let start = performance.now();
      const { bytes, end } = await suspend(waits(keep));
      const suspending = performance.now() - start;
      await end?.();
      start = performance.now();
      const ended = await resume(bytes);
      const resuming = performance.now() - start;
      await ended?.();
      if (run < 0) continue;
      parked.push(suspending);
      resumed.push(resuming);
    }
    times(group, `exec and suspend ${what}`, parked);
    times(group, `restore and resume ${what}`, resumed);
  }
};

await { cells, cpu, images }[group]();
console.log(JSON.stringify(rows));
