//! attacks = a getter without end, cloned
//! expect.code = timeout
return structuredClone({ get rows() { for (;;); } });
