import fc from 'fast-check';
import { test } from 'tap';
import * as batch from '../../../src/crypto/pool/batch_bytes.js';
import { SIGNATURE_VERDICTS } from '../../../src/crypto/verdict.js';

const bytes = (size: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: size, maxLength: size });
const list = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(item, { maxLength: 40 });
const recovery = fc.constantFrom<0 | 1>(0, 1);

/** Returns the message that a worker receives: a structured clone in separate memory. */
const sent = (message: Uint8Array): Uint8Array => structuredClone(message);

function roundTrips<T>(name: string, value: fc.Arbitrary<T>, trip: (value: T) => T): void {
  test(`${name} come out as they went in`, async (t) => {
    fc.assert(
      fc.property(value, (given) => {
        t.same(trip(given), given);
      }),
    );
  });
}

roundTrips(
  'EVM verifications',
  list(fc.record({ msgHash: bytes(32), signature: bytes(64), recovery, address: bytes(20) })),
  (jobs) => batch.decodeVerifyEvm(sent(batch.encodeVerifyEvm(jobs))),
);

roundTrips(
  'Stark verifications',
  list(
    fc.record({
      x: bytes(32),
      y: bytes(32),
      msgHash: bytes(32),
      r: bytes(32),
      s: bytes(32),
      publicKey: bytes(32),
    }),
  ),
  (jobs) => batch.decodeVerifyStark(sent(batch.encodeVerifyStark(jobs))),
);

roundTrips(
  'EVM digests and their key',
  fc.record({ digests: fc.nat(40).chain((count) => bytes(32 * count)), key: bytes(32) }),
  ({ digests, key }) => batch.decodeSignEvm(sent(batch.encodeSignEvm(digests, key))),
);

roundTrips(
  'Stark messages and their key',
  fc.record({ messages: list(fc.record({ x: bytes(32), y: bytes(32) })), key: bytes(32) }),
  ({ messages, key }) => batch.decodeSignStark(sent(batch.encodeSignStark(messages, key))),
);

roundTrips('verdicts', list(fc.constantFrom(...SIGNATURE_VERDICTS)), (verdicts) =>
  batch.decodeVerdicts(sent(batch.encodeVerdicts(verdicts))),
);

roundTrips(
  'Stark signatures',
  list(fc.record({ msgHash: bytes(32), r: bytes(32), s: bytes(32) })),
  (signatures) => batch.decodeStarkSignatures(sent(batch.encodeStarkSignatures(signatures))),
);
