// What runs in a worker: one leg of one cell, from its start or its image to its end or its image.
import { parentPort, workerData } from 'node:worker_threads';
import { Cell } from './vm.mjs';

const { wasm, body, calls, suspend, bytes } = workerData;
const cell = bytes ? await Cell.restore(wasm, bytes) : await Cell.start(wasm, body, calls);
if (bytes) cell.settle([[1, 'null']]);

const step = () => {
  if (cell.requests.length === 0) return parentPort.postMessage({ value: cell.value() });
  if (suspend) return parentPort.postMessage({ bytes: cell.image() });
  parentPort.postMessage({ requests: cell.requests.splice(0) });
};
parentPort.on('message', (answers) => {
  cell.settle(answers);
  step();
});
step();
