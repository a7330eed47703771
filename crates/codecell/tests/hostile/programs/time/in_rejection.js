//! attacks = a loop in a rejection that nobody looks at
//! expect.code = timeout
Promise.reject({ get message() { for (;;); }, get name() { for (;;); }, toString() { for (;;); } });
return 1;
