import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { Builder } from 'flatbuffers';
import { test } from 'tap';
import { MESSAGE_BYTES_MAX } from '../../src/cluster/bus.js';
import { LogBatch as LogBatchTable } from '../../src/cluster/generated/wire.js';
import { decodeLogBatch, encodeLogBatch, WIRE_VERSION } from '../../src/cluster/log/log_batch.js';
import {
  decodeOutcome,
  decodeSubmit,
  encodeOutcome,
  encodeSubmit,
} from '../../src/cluster/publishers/submit.js';
import { decodeNames, encodeNames } from '../../src/cluster/ticks/names.js';
import { decodeTickBatch, encodeTickBatch } from '../../src/cluster/ticks/tick_batch.js';
import { UnreadableMessage } from '../../src/cluster/unreadable.js';
import { CLUSTER_ASSETS_MAX } from '../../src/model/node_list.js';
import { PRICE_MAX, PRICE_MIN, type Price } from '../../src/model/price.js';
import { PUBLISHERS_MAX, SPREAD_PPM_MAX } from '../../src/model/price_with_quality.js';
import { SIGNATURE_TYPES } from '../../src/wire/signatures.js';
import { holds } from '../holds.js';
import { livePrice } from '../model/sample.js';
import { cases } from '../tier.js';

const PLAIN = { noNullPrototype: true } as const;
const bytes = fc.uint8Array({ maxLength: 300 });
const streamingId = fc.integer({ min: 0, max: 0xffff });
const type = fc.constantFrom(...SIGNATURE_TYPES);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const entry = fc.record(
  {
    symbol: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
    signatureType: type,
    publisherKey: optional(fc.uint8Array({ minLength: 20, maxLength: 32 })),
    bytes,
  },
  PLAIN,
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
  PLAIN,
);
const logBatch = fc.record(
  {
    epoch: fc.maxSafeNat(),
    sequence: fc.maxSafeNat(),
    after: fc.string({ maxLength: 40 }),
    claim: optional(claim),
    entries: fc.array(entry, { maxLength: 5 }),
  },
  PLAIN,
);
const quality = fc.record(
  {
    newestNs: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    publishers: fc.integer({ min: 1, max: PUBLISHERS_MAX }),
    spreadPpm: fc.integer({ min: 0, max: SPREAD_PPM_MAX }),
  },
  PLAIN,
);
const price = fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX }).map((value) => value as Price);
const tickBatch = fc.record(
  {
    epoch: fc.maxSafeNat(),
    number: fc.maxSafeNat(),
    full: fc.boolean(),
    prices: fc
      .array(fc.tuple(streamingId, fc.record({ price, quality }, PLAIN)), { maxLength: 20 })
      .map((pairs) => new Map(pairs)),
    ended: fc.array(streamingId, { maxLength: 5 }),
    taxonomy: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  },
  PLAIN,
);
const asset = fc.record({ id: streamingId, symbol: fc.string(), signatureType: type }, PLAIN);
const names = fc.record({ assets: fc.array(asset, { maxLength: 9 }), isLast: fc.boolean() }, PLAIN);
const caller = fc.oneof(
  fc.record({ token: fc.string({ maxLength: 9 }) }, PLAIN),
  fc.record({ signatureType: type, key: fc.uint8Array({ minLength: 20, maxLength: 32 }) }, PLAIN),
);
const submit = fc.record(
  {
    session: fc.string({ maxLength: 9 }),
    number: fc.nat(),
    oldest: fc.nat(),
    again: fc.boolean(),
    durable: fc.boolean(),
    type,
    caller,
    message: fc.record({ traceId: optional(fc.string()), length: fc.nat(), content: fc.string() }, PLAIN),
  },
  PLAIN,
);
const outcome = fc.oneof(
  fc.record(
    {
      ok: fc.constant(true as const),
      traceId: optional(fc.string()),
      accepted: fc.array(fc.string()),
      rejected: fc.array(fc.tuple(fc.string(), fc.string())).map((pairs) => new Map(pairs)),
      durable: fc.constant('memory' as const),
    },
    { ...PLAIN, requiredKeys: ['ok', 'traceId', 'accepted', 'rejected'] },
  ),
  fc.record({ ok: fc.constant(false as const), traceId: optional(fc.string()), error: fc.string() }, PLAIN),
);

/** A kind of message between nodes, with messages to write. */
interface Kind<T> {
  readonly name: string;
  readonly message: fc.Arbitrary<T>;
  readonly encode: (message: T) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => T | undefined;
}

const kind = <T>(of: Kind<T>): Kind<unknown> => of as unknown as Kind<unknown>;

for (const { name, message, encode, decode } of [
  kind({ name: 'records of the log', message: logBatch, encode: encodeLogBatch, decode: decodeLogBatch }),
  kind({ name: 'ticks', message: tickBatch, encode: encodeTickBatch, decode: decodeTickBatch }),
  kind({ name: 'names', message: names, encode: encodeNames, decode: decodeNames }),
  kind({ name: 'submitted updates', message: submit, encode: encodeSubmit, decode: decodeSubmit }),
  kind({ name: 'outcomes', message: outcome, encode: encodeOutcome, decode: decodeOutcome }),
])
  test(`${name} are read as they were written, and damaged ones do no harm`, async (t) => {
    const written = fc.property(message, fc.nat(7), (one, offset) => {
      const encoded = encode(one);
      const moved = new Uint8Array(encoded.length + offset);
      moved.set(encoded, offset);
      assert.deepEqual(decode(moved.subarray(offset)), one);
    });
    holds(t, written, { numRuns: cases(200) });
    const hostile = fc.property(message.map(encode).chain(damaged), (one) => {
      try {
        checkSize(decode(one), one.length);
      } catch (error) {
        assert.ok(error instanceof UnreadableMessage);
      }
    });
    holds(t, hostile, { numRuns: 2_000 });
  });

/** Checks that a message has no more parts than its bytes can contain. */
function checkSize(message: unknown, length: number): void {
  const { prices, assets, entries } = (message ?? {}) as {
    readonly prices?: ReadonlyMap<number, unknown>;
    readonly assets?: readonly unknown[];
    readonly entries?: readonly { readonly bytes: Uint8Array }[];
  };
  assert.ok((prices?.size ?? 0) * 30 <= length);
  assert.ok((assets?.length ?? 0) * 2 <= length);
  for (const one of entries ?? []) assert.ok(one.bytes.length <= length);
}

/** Returns damaged messages: with some changed bytes, with a cut-off end, or with random bytes. */
function damaged(whole: Uint8Array): fc.Arbitrary<Uint8Array> {
  const change = fc.record({ place: fc.nat(whole.length - 1), value: fc.integer({ min: 0, max: 255 }) });
  const changed = fc.array(change, { minLength: 1, maxLength: 8 }).map((changes) => {
    const copy = new Uint8Array(whole);
    for (const { place, value } of changes) copy[place] = value;
    return copy;
  });
  const cut = fc.nat(whole.length).map((length) => whole.slice(0, length));
  return fc.oneof(changed, cut, fc.uint8Array({ maxLength: 100 }));
}

test('all prices fit one message', async (t) => {
  const all = Array.from({ length: CLUSTER_ASSETS_MAX }, (_, id) => [id, livePrice(PRICE_MIN)] as const);
  const prices = new Map(all);
  const encoded = encodeTickBatch({ epoch: 1, number: 1, full: true, prices, ended: [], taxonomy: 1n });
  t.ok(encoded.length < MESSAGE_BYTES_MAX);
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
