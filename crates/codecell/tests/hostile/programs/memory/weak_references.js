//! attacks = weak references and a registry that keep what they should not
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const registry = new FinalizationRegistry(() => {});
const all = [];
for (;;) { const one = { all }; registry.register(one, all, one); all.push(new WeakRef(one), one); }
