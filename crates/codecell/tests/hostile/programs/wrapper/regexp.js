//! attacks = an expression that closes brackets
//! expect.value = [true,2]
const pattern = /[})(;*/]+\/\*/;
return [pattern.test("})();/*"), [1, 2].length];
