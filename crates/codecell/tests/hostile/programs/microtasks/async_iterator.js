//! attacks = an async iterator that never says it is done
//! expect.code = timeout
for await (const one of { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false }) }) });
