// One cell in one VM of `quickjs-wasi`, with the limits that a host of untrusted programs cannot do without.
import { QuickJS } from 'quickjs-wasi';

const MEMORY = 64 * 1024 * 1024;
const TIME = 60_000;

/** Calls leave as JSON and are answered as JSON. Kept in the guest, so that it survives a snapshot. */
const PRELUDE = `
  const waiting = new Map();
  let last = 0;
  const ask = (name, args) => new Promise((resolve) => {
    waiting.set(++last, resolve);
    request(last, name, JSON.stringify(args ?? null));
  });
  globalThis.tools = { callValue: ask };
  globalThis.yield_control = () => ask('yield', null);
  globalThis.settle = (id, json) => {
    const resolve = waiting.get(id);
    waiting.delete(id);
    resolve(JSON.parse(json));
  };
`;

const limits = () => {
  const deadline = Date.now() + TIME;
  return { memoryLimit: MEMORY, interruptHandler: () => Date.now() > deadline };
};

/** A VM and what its program has asked for. */
export class Cell {
  #vm;
  /** Requests that are not answered: `[id, name, json]`. */
  requests = [];

  /** Starts a program, the body of an async function; `tools` exist if it `calls`. */
  static async start(wasm, body, calls) {
    const cell = new Cell();
    cell.#vm = await QuickJS.create({ wasm, ...limits() });
    const vm = cell.#vm;
    if (calls) {
      const request = vm.newFunction('request', (...args) => cell.#request(args));
      vm.setProp(vm.global, 'request', request);
      request.dispose();
      vm.evalCode(PRELUDE).dispose();
    }
    vm.evalCode(
      `(async () => {\n${body}\n})().then((value) => { globalThis.result = JSON.stringify(value); })`,
    ).dispose();
    vm.executePendingJobs();
    return cell;
  }

  /** Goes on with a program in a fresh VM. */
  static async restore(wasm, bytes) {
    const cell = new Cell();
    cell.#vm = await QuickJS.restore(QuickJS.deserializeSnapshot(bytes), wasm, limits());
    cell.#vm.registerHostCallback('request', (...args) => cell.#request(args));
    return cell;
  }

  #request([id, name, json]) {
    this.requests.push([id.toNumber(), name.toString(), json.toString()]);
    return this.#vm.undefined;
  }

  /** Answers requests, each `[id, json]`, and runs on. */
  settle(answers) {
    const vm = this.#vm;
    const settle = vm.global.getProp('settle');
    for (const [id, json] of answers) {
      vm.callFunction(settle, vm.undefined, vm.newNumber(id), vm.newString(json)).dispose();
    }
    settle.dispose();
    vm.executePendingJobs();
  }

  /** The image, as it would be stored. */
  image() {
    return QuickJS.serializeSnapshot(this.#vm.snapshot());
  }

  /** The value of a program that has ended. */
  value() {
    const result = this.#vm.global.getProp('result');
    if (result.isUndefined) throw new Error('a program did not end');
    const value = JSON.parse(result.toString());
    result.dispose();
    return value;
  }

  end() {
    this.#vm.dispose();
  }
}
