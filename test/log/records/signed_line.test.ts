import { deepStrictEqual, equal } from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'tap';
import { parseExactJson } from '../../../src/client/verify/exact_json.js';
import { algorithmChecksum } from '../../../src/crypto/algorithm_definition.js';
import { LineReader, readSignedLine, writeAggregateLine } from '../../../src/log/records/signed_line.js';
import type { SignatureType } from '../../../src/model/asset.js';
import type { Price } from '../../../src/model/price.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { inputTexts, readAggregateLine, readInputLine } from '../../../src/wire/aggregate_line.js';
import { START_NS, sampleAsset, sampleInput, samplePublisher } from '../../model/sample.js';
import { cases } from '../../tier.js';
import { hex, signedInput, signedPrice, text, upTo } from './arbitrary_input.js';
import { lineOf, sampleShown } from './sample_line.js';

const AGGREGATE: SignedAggregate = {
  symbol: 'BTCUSD',
  trigger: 'delta',
  price: -72147681412670819000000n as Price,
  timestampNs: START_NS,
  signedAtNs: (START_NS + 123_456_789n) as TimeNs,
  signatureType: 'evm',
  publicKey: '0xc4A02e7D370402F4afC36032076B05e74FF81786',
  msgHash: Buffer.alloc(32, 0x0a),
  r: Buffer.alloc(32, 1),
  s: Buffer.alloc(32, 2),
  v: 28,
  merkleRoot: Buffer.alloc(32, 3),
  algorithm: 'weighted average',
  inputs: [sampleInput(sampleAsset(), samplePublisher(), 5n, START_NS)],
};

test('an EVM aggregate has exactly the fields of the REST API', async (t) => {
  const read = parseExactJson(lineOf(AGGREGATE));
  t.same(read, {
    timestamp: 1_772_460_000_000_000_000n,
    asset_id: 'BTCUSD',
    signature_type: 'evm',
    trigger: 'delta',
    price: '-72147681412670819000000',
    service_signed_price: {
      public_key: '0xc4A02e7D370402F4afC36032076B05e74FF81786',
      encoded_asset_id: 'QlRDVVNE',
      price: '-72147681412670819000000',
      timestamped_signature: {
        signature: { r: `0x${'01'.repeat(32)}`, s: `0x${'02'.repeat(32)}`, v: '0x1c' },
        timestamp: 1_772_460_000_123_456_789n,
        msg_hash: `0x${'0a'.repeat(32)}`,
      },
      publisher_merkle_root: `0x${'03'.repeat(32)}`,
      calculation_alg: {
        type: 'weighted average',
        version: 'v1',
        checksum: algorithmChecksum('weighted average'),
      },
    },
    signed_prices: [
      {
        publisher_key: `0x${'01'.repeat(20)}`,
        external_asset_id: 'BTCUSD',
        signature_type: 'evm',
        price: '5',
        timestamped_signature: {
          signature: { r: '0x1', s: '0x2', v: '0x1b' },
          timestamp: 1_772_460_000_000_000_000n,
          msg_hash: '0x3',
        },
      },
    ],
  });
});

const word = fc.uint8Array({ minLength: 32, maxLength: 32 });
const aggregate = fc.constantFrom<SignatureType>('evm', 'stark').chain((type) =>
  fc.record({
    symbol: text,
    trigger: fc.constantFrom('clock', 'delta'),
    price: signedPrice,
    timestampNs: upTo(2n ** 63n - 1n),
    signedAtNs: upTo(2n ** 63n - 1n),
    signatureType: fc.constant(type),
    publicKey: type === 'evm' ? fc.constant('0xc4A02e7D370402F4afC36032076B05e74FF81786') : hex(32),
    msgHash: word,
    r: word,
    s: word,
    v: type === 'evm' ? fc.constantFrom(27, 28) : fc.constant(undefined),
    merkleRoot: word,
    algorithm: fc.constantFrom('median', 'average', 'weighted average'),
    inputs: fc.array(signedInput(type), { maxLength: 4 }),
  }),
) as unknown as fc.Arbitrary<SignedAggregate>;

test('a line reads back into the aggregate with the publishers’ exact texts', async () => {
  fc.assert(
    fc.property(aggregate, fc.constantFrom('service', 'a_1'), (one, name) => {
      const shown = sampleShown(name)(one.symbol, one.algorithm);
      const line = writeAggregateLine(one, shown);
      const read = readSignedLine(line);
      deepStrictEqual({ ...read }, { ...one });
      deepStrictEqual(new LineReader().read(line).shown, shown);
      equal(writeAggregateLine(read, shown), line);
      const short = writeAggregateLine(one, shown, false);
      equal(readAggregateLine(short)?.inputs, undefined);
      deepStrictEqual({ ...readSignedLine(short) }, { ...one, inputs: [] });
      // The reader sees what a JSON parser sees.
      const json = parseExactJson(line) as { signed_prices: object[] };
      deepStrictEqual(
        inputTexts(readAggregateLine(line)!.inputs!)!.map((text) => parseExactJson(text)),
        json.signed_prices,
      );
    }),
    { numRuns: cases(150) },
  );
});

test('a text that only begins like a line is not read', async (t) => {
  const line = lineOf(AGGREGATE);
  const inputs = readAggregateLine(line)!.inputs!;
  const [input] = inputTexts(inputs) as [string];
  for (const [from, to] of [
    ['"timestamp":1', '"timestamp": 1'],
    ['"trigger":"delta"', '"trigger":"delta","trigger":"clock"'],
    ['"trigger":"delta"', '"trigger":"other"'],
    ['"price":"-72', '"price":"-072'],
    ['"asset_id":"BTCUSD"', '"asset_id":"BTC\\qUSD"'],
    ['"v":"0x1c"', '"v":"0x1d"'],
  ] as const)
    t.throws(() => readSignedLine(line.replace(from, to)), RangeError, `${from} → ${to}`);
  for (let length = 0; length < line.length; length++)
    t.throws(() => readSignedLine(line.slice(0, length)).inputs, RangeError, `${length} characters`);
  const withMetadata = `${input.slice(0, -1)},"metadata":{}}`;
  for (const list of [
    `[${withMetadata}],"x":[${input}]`,
    `[${withMetadata} ,${input}]`,
    `[${withMetadata},${input},]`,
    `[${withMetadata},5]`,
    `[${input}${input}]`,
    `[${input.slice(0, -1)},"metadata":{},"price":"1"}]`,
    `[${input.slice(0, -1)},"metadata":{}},{]`,
  ])
    t.notOk(
      inputTexts(list)?.every((text) => readInputLine(text) !== undefined),
      list,
    );
});
