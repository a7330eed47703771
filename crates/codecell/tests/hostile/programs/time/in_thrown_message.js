//! attacks = a loop in the message of what is thrown
//! expect.code = timeout
throw { name: "Error", get message() { for (;;); } };
