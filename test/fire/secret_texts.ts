/** Of a secret, so many digits or characters in a row are a part of it that must not be seen either. */
const PART_CHARACTERS = 16;

/** The ways in which 32 secret bytes are written: hex, decimal, base64, and as arrays of numbers. */
export function writingsOf(key: Buffer): readonly string[] {
  return [
    key.toString('hex'),
    String(BigInt(`0x${key.toString('hex')}`)),
    key.toString('base64'),
    key.toString('base64url'),
    [...key].join(','),
    [...key].join(', '),
    [...key].map((byte) => byte.toString(16)).join(' '),
  ];
}

/** The ways in which a token is written: as it is, and with its bytes as a key's. */
export function writingsOfToken(token: string): readonly string[] {
  return [token, encodeURIComponent(token), ...writingsOf(Buffer.from(token))];
}

/** The beginnings, the middles and the ends of secrets that stand in a text, in any case of their letters. */
export function secretsIn(text: string, writings: Iterable<string>): string[] {
  const lower = text.toLowerCase();
  return [...writings]
    .flatMap((writing) =>
      [0, (writing.length - PART_CHARACTERS) / 2, writing.length - PART_CHARACTERS].map((at) =>
        writing.slice(Math.max(0, at)).slice(0, PART_CHARACTERS),
      ),
    )
    .filter((part) => lower.includes(part.toLowerCase()));
}
