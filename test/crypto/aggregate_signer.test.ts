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
import { type ReadMessage, readPublishMessage } from '../../src/prices/message.js';
import { lineOf } from '../log/records/sample_line.js';
import { START_NS, sampleAsset } from '../model/sample.js';
import { messageOf, SERVICE_KEYS, SERVICE_ORACLE_ID, testPublisher } from '../prices/harness.js';

const SIGNED_AT_NS = (START_NS + 5_123_456_789n) as TimeNs;

/** Returns an aggregate by the median of three publishers around a price. */
function unsigned(asset: Asset, price: bigint): UnsignedAggregate {
  const inputs = [0, 1, 2]
    .map((index) => testPublisher(index, asset.signatureType))
    .sort((a, b) => a.publisher.key.compare(b.publisher.key))
    .map((by, i): PublisherPrice => {
      const [value, timestampNs] = [(price + BigInt(i)) as Price, (START_NS + BigInt(i)) as TimeNs];
      const message = readPublishMessage(
        messageOf(by, { [asset.symbol]: value }, timestampNs),
        1,
      ) as ReadMessage;
      return { price: value, timestampNs, wire: message.updates[0]! };
    });
  return { asset, trigger: 'clock', price: (price + 1n) as Price, inputs, signedAtNs: SIGNED_AT_NS };
}

function reportOf(aggregate: SignedAggregate): AggregateReport {
  return verifyAggregate(lineOf(aggregate), {
    signers: [aggregate.publicKey],
    algorithmText: algorithmDefinition('median'),
    oracleId: SERVICE_ORACLE_ID,
  })[0]!;
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
