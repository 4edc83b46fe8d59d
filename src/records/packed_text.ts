/** The first byte of a packed text is its form: one of these three. */
const UTF8 = 0;
const HEX_EVEN = 1;
/** An odd number of digits: the first half of the first byte is not part of the text. */
const HEX_ODD = 2;

const HEX_TEXT = /^0x[0-9a-f]+$/;

/**
 * Packs a text for storage. Most texts of a signed price are `0x` and lower-case hex: they become bytes, which halves a
 * record. Other texts stay UTF-8. {@link unpackText} returns the same characters.
 */
export function packText(text: string): Uint8Array {
  if (!HEX_TEXT.test(text)) return withForm(UTF8, Buffer.from(text, 'utf8'));
  const isEven = text.length % 2 === 0;
  return withForm(
    isEven ? HEX_EVEN : HEX_ODD,
    Buffer.from(isEven ? text.slice(2) : `0${text.slice(2)}`, 'hex'),
  );
}

/** Reads what {@link packText} wrote. */
export function unpackText(packed: Uint8Array): string {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  if (bytes[0] === UTF8) return bytes.toString('utf8', 1);
  const digits = bytes.toString('hex', 1);
  return `0x${bytes[0] === HEX_ODD ? digits.slice(1) : digits}`;
}

function withForm(form: number, bytes: Buffer): Uint8Array {
  const packed = Buffer.allocUnsafe(bytes.length + 1);
  packed[0] = form;
  bytes.copy(packed, 1);
  return packed;
}
