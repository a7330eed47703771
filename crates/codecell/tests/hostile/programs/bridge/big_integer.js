//! attacks = an integer of three hundred digits
//! expect.value = [301,"bigint",true]
const big = 10n ** 300n;
const back = await tools.echo({ x: big });
return [String(back).length, typeof back, back === big];
