//! attacks = numbers that JSON does not have
//! expect.value = [null,null,0,null,1.7976931348623157e+308,5e-324]
return await tools.echo({ x: [NaN, Infinity, -0, -Infinity, Number.MAX_VALUE, Number.MIN_VALUE] });
