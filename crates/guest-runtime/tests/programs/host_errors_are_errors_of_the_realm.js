//! expect.value = {"fail":["Error","it broke","tool_error",{"path":"$.x"},true],"range":["RangeError",true],"odd":["QuotaError",true],"refused":"invalid_input","line":true}
const caught = async (name) => {
  try {
    await tools.callValue("openclaw:core:" + name, {});
  } catch (error) {
    return error;
  }
};
const fail = await caught("fail"), range = await caught("range"), odd = await caught("odd");
return {
  fail: [fail.name, fail.message, fail.code, fail.details, fail instanceof Error],
  range: [range.name, range instanceof RangeError],
  odd: [odd.name, odd instanceof Error],
  refused: (await caught("refused")).code,
  line: fail.stack.includes("cell:4:"),
};
