//! attacks = timers without end, made at once
//! expect.code = internal_error
//! expect.error = "RangeError: too many timers: 1024 are outstanding already\n    at cell:4:10"
for (;;) setTimeout(() => {}, 0);
