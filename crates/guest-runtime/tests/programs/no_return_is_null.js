//! expect.value = null
1 + 1;
