//! attacks = a first line for a shell
//! expect.code = invalid_input
//! expect.error = javascript syntax error at cell:4:2: invalid Character `!`. Nothing was run; correct the code and call exec again
#!/usr/bin/env node
return 1;
