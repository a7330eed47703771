//! attacks = rejections that beget rejections
//! expect.code = timeout
(function again() { Promise.reject(new Error("again")).finally(again); })();
