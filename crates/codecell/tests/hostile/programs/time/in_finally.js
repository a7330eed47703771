//! attacks = loops in every finally
//! expect.code = timeout
const again = () => { try { again(); } finally { again(); } };
again();
