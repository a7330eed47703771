//! attacks = text that is printed after the program has returned, while its calls are drained
//! expect.value = "done"
//! expect.output = ["late"]
tools.echo({ x: 1 }).then(() => text("late"));
return "done";
