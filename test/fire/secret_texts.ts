/** The number of consecutive characters of a secret that may not appear anywhere. */
const PART_CHARACTERS = 16;

/** Returns 32 secret bytes as text: hex, decimal, base64, and arrays of numbers. */
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

/** Returns the forms of a token as text: the token itself, and its bytes in the forms of a key. */
export function writingsOfToken(token: string): readonly string[] {
  return [token, encodeURIComponent(token), ...writingsOf(Buffer.from(token))];
}

/** Finds parts of secrets in a text: beginnings, middles and ends, in upper or lower case. */
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
