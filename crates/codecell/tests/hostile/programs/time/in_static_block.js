//! attacks = a loop while a class is made
//! expect.code = timeout
class Endless { static { for (;;); } }
return 1;
