import { deepStrictEqual, equal } from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'tap';
import {
  type AcceptedInput,
  decodeAcceptedInput,
  encodeAcceptedInput,
  openAcceptedInput,
} from '../../../src/log/records/accepted_input.js';
import type { SignatureType } from '../../../src/model/asset.js';
import type { SeenUpdates } from '../../../src/model/seen_updates.js';
import { cases } from '../../tier.js';
import { signedInput, upTo } from './arbitrary_input.js';

const update = fc.record({
  hashKey: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  second: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  nanos: fc.integer({ min: 0, max: 999_999_999 }),
  sender: fc.oneof(fc.constantFrom('alice', ',"floor":"1"', '"seen":"'), fc.string({ unit: 'grapheme' })),
});
const seen = fc.record(
  { floorNs: upTo(2n ** 63n - 1n), updates: fc.array(update, { maxLength: 300 }) },
  { noNullPrototype: true },
) as unknown as fc.Arbitrary<SeenUpdates>;
const accepted = fc
  .constantFrom<SignatureType>('evm', 'stark')
  .chain((type) => fc.tuple(signedInput(type), seen, fc.constant(type)));

test('an accepted input is one line of JSON that reads back', async () => {
  fc.assert(
    fc.property(accepted, ([input, window, type]) => {
      const one = { input, seen: window };
      const record = encodeAcceptedInput(one, type);
      const text = Buffer.from(record).toString();
      equal(text.includes('\n'), false);
      const json = JSON.parse(text);
      deepStrictEqual([json.input.signature_type, json.floor], [type, String(window.floorNs)]);
      deepStrictEqual(decodeAcceptedInput(record), plain(one));
      const opened = openAcceptedInput(record);
      equal(encodeAcceptedInput(opened, type), record, 'the very bytes');
      deepStrictEqual({ input: opened.input, seen: opened.seen }, plain(one));
    }),
    { numRuns: cases(150) },
  );
});

test('bytes that are not a record do not open', async (t) => {
  const [input, window, type] = fc.sample(accepted, { numRuns: 1, seed: 3 })[0]!;
  const record = Buffer.from(encodeAcceptedInput({ input, seen: window }, type));
  for (let length = 0; length < record.length; length++)
    t.throws(() => decodeAcceptedInput(record.subarray(0, length)), `the first ${length} bytes`);
  const text = record.toString();
  for (const [from, to] of [
    [/"seen":"[^"]*"/, '"seen":"AAAA"'],
    [/"floor":"/, '"floor":"x'],
  ] as const)
    t.throws(() => decodeAcceptedInput(Buffer.from(text.replace(from, to))), RangeError, to);
});

/** Returns the value with plain objects as the decoder makes them. */
function plain({ input, seen: { floorNs, updates } }: AcceptedInput): AcceptedInput {
  return {
    input: { ...input, wire: { ...input.wire } },
    seen: { floorNs, updates: updates.map((one) => ({ ...one })) },
  };
}
