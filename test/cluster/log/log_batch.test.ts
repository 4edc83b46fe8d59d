import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { Builder } from 'flatbuffers';
import { test } from 'tap';
import { LogBatch as LogBatchTable } from '../../../src/cluster/generated/wire.js';
import {
  decodeLogBatch,
  encodeLogBatch,
  type LogBatch,
  WIRE_VERSION,
} from '../../../src/cluster/log/log_batch.js';
import { UnreadableMessage } from '../../../src/cluster/unreadable.js';
import { holds } from '../../holds.js';
import { cases } from '../../tier.js';
import { damaged } from '../damaged.js';

const bytes = fc.uint8Array({ maxLength: 300 });
const entry = fc.record(
  {
    symbol: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
    signatureType: fc.constantFrom('evm' as const, 'stark' as const),
    publisherKey: fc.option(fc.uint8Array({ minLength: 20, maxLength: 32 }), { nil: undefined }),
    bytes,
  },
  { noNullPrototype: true },
);
const claim = fc.record(
  {
    node: fc.integer({ min: 1, max: 63 }),
    name: fc.string({ maxLength: 20 }),
    run: fc.string({ maxLength: 20 }),
    attempt: fc.nat(),
    configHash: bytes,
    resign: fc.boolean(),
  },
  { noNullPrototype: true },
);
const batch: fc.Arbitrary<LogBatch> = fc.record(
  {
    epoch: fc.maxSafeNat(),
    sequence: fc.maxSafeNat(),
    after: fc.string({ maxLength: 40 }),
    claim: fc.option(claim, { nil: undefined }),
    entries: fc.array(entry, { maxLength: 5 }),
  },
  { noNullPrototype: true },
);

test('a record of the log is read as it was written, wherever it lies in memory', async (t) => {
  holds(
    t,
    fc.property(batch, fc.nat(7), (written, offset) => {
      const encoded = encodeLogBatch(written);
      const moved = new Uint8Array(encoded.length + offset);
      moved.set(encoded, offset);
      assert.deepEqual(decodeLogBatch(moved.subarray(offset)), written);
    }),
    { numRuns: cases(200) },
  );
});

test('damaged bytes are refused or read, and never do harm', async (t) => {
  holds(
    t,
    fc.property(batch.map(encodeLogBatch).chain(damaged), (hostile) => {
      try {
        for (const { bytes: inside } of decodeLogBatch(hostile).entries)
          assert.ok(inside.length <= hostile.length);
      } catch (error) {
        assert.ok(error instanceof UnreadableMessage);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a record of another version is refused in words that name both versions', async (t) => {
  const recordOf = (version: number) => {
    const builder = new Builder();
    LogBatchTable.startLogBatch(builder);
    LogBatchTable.addWireVersion(builder, version);
    builder.finish(LogBatchTable.endLogBatch(builder));
    return builder.asUint8Array();
  };
  for (const [version, remedy] of [
    [WIRE_VERSION + 1, 'install the newer release here'],
    [WIRE_VERSION - 1, 'install the release that wrote the log here, or begin a new log'],
  ] as const)
    t.throws(() => decodeLogBatch(recordOf(version)), {
      message: `the log is written in version ${version}, and this node reads version ${WIRE_VERSION}: ${remedy}`,
    });
  t.throws(() => decodeLogBatch(recordOf(0)), { message: 'a record of the log has no version' });
});
