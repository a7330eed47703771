// The engine alone: VMs in the thread that measures, one compiled module for all.
import { Cell } from './vm.mjs';

/** What a tool answers to a request: its argument. */
const echo = ([id, , json]) => [id, json];

export const host = (wasm) => ({
  /** Runs a cell to its end. */
  exec: async (body, calls, later) => {
    const cell = await Cell.start(wasm, body, calls);
    while (cell.requests.length > 0) {
      const requests = cell.requests.splice(0);
      if (later) await new Promise(setImmediate);
      cell.settle(requests.map(echo));
    }
    cell.value();
    cell.end();
  },
  /** Runs a cell until it yields, and returns its image. */
  suspend: async (body) => {
    const cell = await Cell.start(wasm, body, true);
    const bytes = cell.image();
    cell.end();
    return { bytes };
  },
  /** Goes on with a suspended cell, whose one request is its first. */
  resume: async (bytes) => {
    const cell = await Cell.restore(wasm, bytes);
    cell.settle([[1, 'null']]);
    cell.value();
    cell.end();
  },
});
