/** A line that is longer than the limit. Its text is dropped. */
export const TOO_LONG = Symbol('too long');

/**
 * Splits a stream of text into lines. A line longer than `charactersMax` becomes {@link TOO_LONG}; later lines are read as usual.
 * The last line may lack a line end.
 */
export async function* boundedLines(
  input: AsyncIterable<string>,
  charactersMax: number,
): AsyncIterable<string | typeof TOO_LONG> {
  let rest = '';
  let isSkipping = false;
  for await (const text of input) {
    const lines = text.split('\n');
    const last = lines.pop()!;
    for (const line of lines) {
      const whole = rest + line;
      yield isSkipping || whole.length > charactersMax ? TOO_LONG : whole;
      rest = '';
      isSkipping = false;
    }
    if (isSkipping) continue;
    rest += last;
    if (rest.length <= charactersMax) continue;
    rest = '';
    isSkipping = true;
  }
  if (isSkipping) yield TOO_LONG;
  else if (rest !== '') yield rest;
}
