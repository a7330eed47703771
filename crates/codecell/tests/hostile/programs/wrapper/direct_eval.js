//! attacks = variables of the wrapper, by way of eval
//! expect.value = []
const wrong = [];
for (const name of ["host", "ask", "later", "member", "define", "append", "RUNNING", "program", "run", "__host", "codecell"]) {
  if (eval(`typeof ${name}`) !== "undefined" || (0, eval)(`typeof ${name}`) !== "undefined") wrong.push(name);
}
return wrong;
