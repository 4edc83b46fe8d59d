import * as fc from 'fast-check';

/** Returns damaged messages: with some changed bytes, with a cut-off end, or with random bytes. */
export function damaged(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const change = fc.record({ place: fc.nat(bytes.length - 1), value: fc.integer({ min: 0, max: 255 }) });
  const changed = fc.array(change, { minLength: 1, maxLength: 8 }).map((changes) => {
    const copy = new Uint8Array(bytes);
    for (const { place, value } of changes) copy[place] = value;
    return copy;
  });
  const cut = fc.nat(bytes.length).map((length) => bytes.slice(0, length));
  return fc.oneof(changed, cut, fc.uint8Array({ maxLength: 100 }));
}
