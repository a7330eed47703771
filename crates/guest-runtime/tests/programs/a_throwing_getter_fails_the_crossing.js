//! expect.error = Error: no @3:23
return {
  get x() { throw new Error("no"); },
};
