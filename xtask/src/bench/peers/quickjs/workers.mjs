// The engine as a host drives it that must not block, nor be blocked: a worker for each leg of each cell, tools on the
// main thread, an image when the cell has to wait for long.
import { Worker } from 'node:worker_threads';

const file = new URL('worker.mjs', import.meta.url);

/** Runs one leg. The worker is ended by what is returned as `end`, which nobody waits for in the measured time. */
const leg = (data, later) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(file, { workerData: data });
    const end = () => worker.terminate();
    worker.on('error', reject);
    worker.on('message', async ({ requests, ...last }) => {
      if (!requests) return resolve({ ...last, end });
      if (later) await new Promise(setImmediate);
      worker.postMessage(requests.map(([id, , json]) => [id, json]));
    });
  });

export const host = (wasm) => ({
  exec: async (body, calls, later) => (await leg({ wasm, body, calls }, later)).end,
  suspend: async (body) => {
    const { bytes, end } = await leg({ wasm, body, calls: true, suspend: true });
    return { bytes, end };
  },
  resume: async (bytes) => (await leg({ wasm, bytes })).end,
});
