//! expect.error = RangeError: too far @3:13
function deep() {
  throw new RangeError("too far");
}
deep();
