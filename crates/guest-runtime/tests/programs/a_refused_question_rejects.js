//! expect.value = ["TypeError","the query must be a string",true]
try {
  await tools.search(5);
} catch (error) {
  return [error.name, error.message, error instanceof TypeError];
}
