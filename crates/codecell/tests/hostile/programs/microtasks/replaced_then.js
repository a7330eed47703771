//! attacks = a then of the program, which every await meets, and which never settles
//! expect.code = internal_error
//! expect.error = code mode promise is pending without host work: nothing can wake this program. Await a tool call, a timer or yield_control, or return.
class Never extends Promise { then() { return new Promise(() => {}); } }
return await Never.resolve(1);
