import { test } from 'tap';
import { type AggregateReport, verifyAggregate } from '../../src/client/index.js';
import { createAggregateSigner, type ServiceKeys } from '../../src/crypto/aggregate_signer.js';
import { algorithmDefinition } from '../../src/crypto/algorithm_definition.js';
import { createCryptoPool } from '../../src/crypto/pool/pool.js';
import type { Asset } from '../../src/model/asset.js';
import type { TimedKey } from '../../src/model/key_schedule.js';
import type { Price } from '../../src/model/price.js';
import type { PublisherPrice, SignedAggregate, UnsignedAggregate } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';
import { readPublishMessage } from '../../src/prices/message.js';
import { lineOf } from '../log/records/sample_line.js';
import { START_NS, sampleAsset } from '../model/sample.js';
import {
  messageOf,
  SERVICE_KEYS,
  SERVICE_ORACLE_ID,
  type TestPublisher,
  testPublisher,
} from '../prices/harness.js';

const evmPublishers = [0, 1, 2].map((index) => testPublisher(index));
const starkPublishers = [0, 1, 2].map((index) => testPublisher(index, 'stark'));
const SIGNED_AT_NS = (START_NS + 5_123_456_789n) as TimeNs;

function inputOf(by: TestPublisher, asset: Asset, price: bigint, timestampNs: bigint): PublisherPrice {
  const message = readPublishMessage(messageOf(by, { [asset.symbol]: price }, timestampNs), 1);
  if (!message.ok) throw new Error(message.error);
  const raw = message.updates[0]!;
  return {
    price: price as Price,
    timestampNs: timestampNs as TimeNs,
    wire: raw,
  };
}

/** Returns an aggregate by the median of three publishers around a price. */
function unsigned(asset: Asset, price: bigint): UnsignedAggregate {
  const publishers = asset.signatureType === 'evm' ? evmPublishers : starkPublishers;
  const inputs = [...publishers]
    .sort((a, b) => a.publisher.key.compare(b.publisher.key))
    .map((by, i) => inputOf(by, asset, price + BigInt(i), START_NS + BigInt(i)));
  return { asset, trigger: 'clock', price: (price + 1n) as Price, inputs, signedAtNs: SIGNED_AT_NS };
}

function reportOf(aggregate: SignedAggregate): AggregateReport {
  return verifyAggregate(lineOf(aggregate), {
    signers: [aggregate.publicKey],
    algorithmText: algorithmDefinition('median'),
    oracleId: SERVICE_ORACLE_ID,
  })[0]!;
}

for (const threads of [0, 1]) {
  test(`aggregates of both kinds verify offline, few and many, with ${threads} threads`, async (t) => {
    const pool = await createCryptoPool({ threads, repeat: () => () => {} });
    t.teardown(() => pool.close());
    const signer = createAggregateSigner(SERVICE_KEYS, SERVICE_ORACLE_ID, pool);
    for (const signatureType of ['evm', 'stark'] as const) {
      const batch = Array.from({ length: 8 }, (_, index) =>
        unsigned(sampleAsset({ symbol: `A${index}`, signatureType, index }), 10n ** 20n + BigInt(index)),
      );
      for (const some of [batch.slice(0, 1), batch]) {
        const signed = await signer.sign(signatureType, some);
        t.equal(signed.length, some.length);
        signed.forEach((aggregate, i) => {
          t.match(reportOf(aggregate), { verdict: 'verified' });
          t.match(aggregate, {
            symbol: some[i]!.asset.symbol,
            trigger: 'clock',
            signatureType,
            signedAtNs: SIGNED_AT_NS,
            timestampNs: START_NS + 2n,
            algorithm: 'median',
            publicKey: signer.publicKeys[signatureType][0]!.text,
          });
        });
      }
    }
  });
}

test('the time of an aggregate decides which key signs it', async (t) => {
  const pool = await createCryptoPool({ threads: 0 });
  const at = (untilNs: bigint | undefined, fromNs: bigint, key: Buffer) =>
    ({ key, fromNs, untilNs }) as TimedKey;
  for (const type of ['evm', 'stark'] as const) {
    const [former, next] = [Buffer.alloc(32, 0x05), Buffer.alloc(32, 0x06)];
    const keys = [at(SIGNED_AT_NS, 0n, former), at(undefined, SIGNED_AT_NS, next)];
    const signer = createAggregateSigner(
      { evm: SERVICE_KEYS.evm, [type]: keys } as ServiceKeys,
      SERVICE_ORACLE_ID,
      pool,
    );
    const keyOf = async (signedAtNs: bigint) => {
      const aggregate = {
        ...unsigned(sampleAsset({ signatureType: type }), 100n),
        signedAtNs: signedAtNs as TimeNs,
      };
      const [signed] = await signer.sign(type, [aggregate]);
      t.match(reportOf(signed!), { verdict: 'verified' });
      return signed!.publicKey;
    };
    const [one, other] = signer.publicKeys[type].map(({ text }) => text);
    t.equal(await keyOf(SIGNED_AT_NS - 1n), one, 'the last nanosecond of the former key');
    t.equal(await keyOf(SIGNED_AT_NS), other, 'the first one of the next key');
  }
});
