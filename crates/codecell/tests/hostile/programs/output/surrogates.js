//! attacks = halves of characters and characters that steer terminals
//! expect.value = "�"
//! expect.output = ["��","\u0000\u001b[2J‮"]
text("\udc00\ud800");
text("\0\u001b[2J\u202e");
return "\udc00";
