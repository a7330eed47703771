//! attacks = arguments of a timer that change
//! expect.value = [[1],2]
const list = [1];
return await new Promise((resolve) => { setTimeout((a, b) => resolve([a, b]), 0, list, 2); });
