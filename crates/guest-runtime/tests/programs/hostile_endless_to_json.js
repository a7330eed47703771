//! expect.value = "RangeError"
class Endless { toJSON() { return [new Endless()]; } }
try { json(new Endless()); } catch (error) { return error.name; }
