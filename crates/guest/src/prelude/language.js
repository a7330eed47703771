// The globals of the language a cell expects beside the ECMAScript ones, and the few it must not have.
(function (host) {
  'use strict';
  const { define } = host;
  const builtIn = (object, key, value) => host.defineBuiltIn(object, key, value);

  // No shared memory, nothing to wait on; and no way from an error to the functions on the stack.
  delete globalThis.SharedArrayBuffer;
  delete globalThis.Atomics;
  Error.stackTraceLimit = 32;
  delete Error.stackTraceLimit;
  delete Error.prepareStackTrace;

  builtIn(Math, 'random', host.random);

  define(globalThis, 'text', host.text, true);
  define(globalThis, 'json', host.json, true);
  define(globalThis, 'yield_control', host.yield_control, true);

  const console = {};
  const levels = ['log', 'info', 'warn', 'error', 'debug'];
  for (let i = 0; i < levels.length; i++) builtIn(console, levels[i], host.print(levels[i]));
  builtIn(globalThis, 'console', console);

  builtIn(globalThis, 'setTimeout', host.setTimeout);
  builtIn(globalThis, 'clearTimeout', host.clearTimeout);
  builtIn(globalThis, 'queueMicrotask', host.queueMicrotask);
  builtIn(globalThis, 'structuredClone', host.structuredClone);

  const performance = {};
  builtIn(performance, 'now', host.now);
  builtIn(globalThis, 'performance', performance);

  const crypto = {};
  builtIn(crypto, 'randomUUID', host.randomUUID);
  builtIn(crypto, 'getRandomValues', host.getRandomValues);
  builtIn(globalThis, 'crypto', crypto);
});
