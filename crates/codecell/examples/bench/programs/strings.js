let text = "";
for (let i = 0; i < 60000; i++) text += String.fromCharCode(97 + (i % 26));
let count = 0;
for (const part of text.split("a")) count += part.toUpperCase().padStart(30, "-").indexOf("Z");
for (let i = 0; i < 20000; i++) count += text.slice(i, i + 10).charCodeAt(3);
return [count, text.replaceAll("xyz", "_").length];
