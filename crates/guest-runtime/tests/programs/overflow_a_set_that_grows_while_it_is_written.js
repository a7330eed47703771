//! expect.fault = output
//! expect.output = [{"overflow":0,"more":262153}]
const all = new Set();
class Grows { toJSON() { all.add(new Grows()); return "one more"; } }
all.add(new Grows());
json(all);
