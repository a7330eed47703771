//! attacks = a return and an await inside eval
//! expect.value = ["SyntaxError","SyntaxError",1]
const name = (code) => { try { return eval(code); } catch (error) { return error.name; } };
return [name("return 1"), name("await 1"), name("var inside = 1; inside")];
