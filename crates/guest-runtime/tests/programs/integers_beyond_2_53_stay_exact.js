//! expect.value = [["bigint","number","bigint","bigint","number"],[9007199254740993,9007199254740991,-9223372036854775808,123456789012345678901234567890,1.5],true]
const raw = await tools.callValue("openclaw:core:raw",
  "[9007199254740993, 9007199254740991, -9223372036854775808, 123456789012345678901234567890, 1.5]");
const back = await tools.echo({ id: raw[3] });
return [raw.map((x) => typeof x), raw, back.id === raw[3]];
