// The same programs under `quickjs-wasi`, as its documentation shows it: one compiled module, a VM for each cell.
// Prints rows in the form of ours. Called with the folder of the programs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QuickJS } from 'quickjs-wasi';

const folder = process.argv[2];
const wasm = await WebAssembly.compile(readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));
const rows = [];

const add = (group, what, times) => {
  times.sort((a, b) => a - b);
  const at = (percentile) => times[Math.floor((times.length * percentile) / 100)] * 1000;
  rows.push({ group, what, unit: 'µs', p50: at(50), p99: at(99) });
};

const measure = async (group, what, runs, body) => {
  const times = [];
  for (let run = -Math.ceil(runs / 8); run < runs; run++) {
    const start = performance.now();
    await body();
    if (run >= 0) times.push(performance.now() - start);
  }
  add(group, what, times);
};

/** Runs a cell to its end in a fresh VM. */
const exec = async (body) => {
  const vm = await QuickJS.create({ wasm });
  const promise = vm.evalCode(`(async function () {\n${body}\n})()`);
  vm.executePendingJobs();
  promise.dispose();
  vm.dispose();
};

await measure('cells', 'fresh VM, `return 1+1`', 400, () => exec('return 1+1'));
for (const name of ['fib', 'loops', 'json', 'sort', 'strings', 'regex', 'map']) {
  const body = readFileSync(join(folder, `${name}.js`), 'utf8');
  await measure('cpu', name, 25, () => exec(body));
}

// A program that waits, written out, read back in a fresh instance, and gone on with.
const kept = [
  ['a small cell', 'const rows = [1];'],
  ['a cell with 1,000 objects', 'const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: `row ${id}` }));'],
];
for (const [what, keep] of kept) {
  const suspends = [];
  const resumes = [];
  for (let run = -20; run < 150; run++) {
    let start = performance.now();
    const vm = await QuickJS.create({ wasm });
    const promise = vm.evalCode(
      `let wake; (async function () {\n${keep} await new Promise((resolve) => { wake = resolve; }); return rows.length;\n})()`,
    );
    vm.executePendingJobs();
    const bytes = QuickJS.serializeSnapshot(vm.snapshot());
    promise.dispose();
    vm.dispose();
    const suspended = performance.now() - start;
    start = performance.now();
    const restored = await QuickJS.restore(QuickJS.deserializeSnapshot(bytes), wasm);
    restored.evalCode('wake()').dispose();
    restored.executePendingJobs();
    restored.dispose();
    const resumed = performance.now() - start;
    if (run < 0) continue;
    suspends.push(suspended);
    resumes.push(resumed);
    if (run === 0) rows.push({ group: 'images', what: `image of ${what}`, unit: 'KiB', p50: bytes.length / 1024 });
  }
  add('images', `exec and suspend ${what}`, suspends);
  add('images', `restore and resume ${what}`, resumes);
}
console.log(JSON.stringify(rows));
