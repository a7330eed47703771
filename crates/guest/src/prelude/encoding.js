// TextEncoder and TextDecoder, for UTF-8 alone.
(function (host) {
  'use strict';
  const { encodeUtf8, encodeInto, decodeUtf8, isUtf8Label, defineBuiltIn } = host;

  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }

    encode(input = '') {
      return encodeUtf8(input);
    }

    encodeInto(source, destination) {
      return encodeInto(source, destination);
    }
  }

  class TextDecoder {
    #fatal;
    #ignoreBOM;
    // Bytes of a character that the next chunk completes, and whether a stream has begun.
    #rest = undefined;
    #begun = false;

    constructor(label = 'utf-8', options = undefined) {
      if (!isUtf8Label(label)) throw new RangeError(`the encoding \`${label}\` is not supported, only utf-8`);
      this.#fatal = !!options?.fatal;
      this.#ignoreBOM = !!options?.ignoreBOM;
    }

    get encoding() {
      return 'utf-8';
    }

    get fatal() {
      return this.#fatal;
    }

    get ignoreBOM() {
      return this.#ignoreBOM;
    }

    decode(input = undefined, options = undefined) {
      const stream = !!options?.stream;
      const strip = !this.#ignoreBOM && !this.#begun;
      const { text, rest } = decodeUtf8(input, this.#rest, this.#fatal, stream, strip);
      this.#rest = stream ? rest : undefined;
      this.#begun = stream && (this.#begun || text !== '');
      return text;
    }
  }

  defineBuiltIn(globalThis, 'TextEncoder', TextEncoder);
  defineBuiltIn(globalThis, 'TextDecoder', TextDecoder);
});
