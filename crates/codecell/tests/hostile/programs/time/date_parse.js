//! attacks = dates that are read and written without end
//! expect.code = timeout
for (let i = 0; ; i++) new Date(`${2000 + (i % 50)}-02-30T25:61`).toLocaleString();
