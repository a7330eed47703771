// What the suite expects of its host beside the language. `$DONE` is made by what runs the tests.
globalThis.print = () => {};
// SpiderMonkey's copy of the suite ends each test with this.
globalThis.reportCompare = () => {};
{
  const { transfer } = ArrayBuffer.prototype;
  globalThis.$262 = {
    global: globalThis,
    detachArrayBuffer(buffer) {
      Reflect.apply(transfer, buffer, []);
    },
    evalScript(source) {
      return (0, eval)(source);
    },
  };
}
