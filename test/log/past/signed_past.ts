import { createPriceSigner } from '../../../src/client/index.js';
import { createAggregateSigner } from '../../../src/crypto/aggregate_signer.js';
import { algorithmChecksum } from '../../../src/crypto/algorithm_definition.js';
import { encodedAssetId } from '../../../src/crypto/evm.js';
import { nativePriceCurves } from '../../../src/crypto/native_price_curves.js';
import { createCryptoPool } from '../../../src/crypto/pool/pool.js';
import type { ReceivedLine } from '../../../src/log/past/past_answer.js';
import type { PastEntry } from '../../../src/log/past/past_entry.js';
import { writeAggregateLine } from '../../../src/log/records/signed_line.js';
import type { Asset, SignatureType } from '../../../src/model/asset.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import { PRICE_SCALE, type Price } from '../../../src/model/price.js';
import type { PublisherPrice, SignedAggregate } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { SERVICE_KEYS } from '../../service/harness.js';

export const SERVICE_ORACLE_ID = 'servc';

const SECOND_NS = 1_000_000_000n;
const PUBLISHERS = 3;

function publisher(n: number, signatureType: SignatureType) {
  const secretKey = Buffer.alloc(32, 0);
  secretKey[31] = n + 1;
  return createPriceSigner({ signatureType, secretKey, oracleId: 'tests', curves: nativePriceCurves });
}

function inputOf(
  n: number,
  { symbol, signatureType }: AssetName,
  units: bigint,
  timestampNs: bigint,
): PublisherPrice {
  const price = (units * PRICE_SCALE) as Price;
  const { signed_price: signed } = publisher(n, signatureType).sign({ symbol, price, timestampNs });
  const { signature, msg_hash: msgHash } = signed.timestamped_signature;
  const { publisher_key: publisherKey, external_asset_id: externalAssetId } = signed;
  const { r, s } = signature;
  const wire = {
    publisherKey,
    externalAssetId,
    price: String(price),
    r,
    s,
    v: 'v' in signature ? signature.v : undefined,
    msgHash,
    metadata: n === 1 ? '{"venue":"a, b"}' : undefined,
  };
  return { price, timestampNs: timestampNs as TimeNs, wire };
}

/** Signs aggregates of an asset one second apart, as the service does. Each input counts in several aggregates. */
export async function signedAggregates(
  name: AssetName,
  startNs: bigint,
  count: number,
): Promise<SignedAggregate[]> {
  const pool = await createCryptoPool({ threads: 0 });
  const signer = createAggregateSigner(SERVICE_KEYS, SERVICE_ORACLE_ID, pool);
  const asset = { ...name, aggregation: 'median' } as Asset;
  const inputs: PublisherPrice[] = [];
  const aggregates: SignedAggregate[] = [];
  for (let i = 0; i < count; i++) {
    const signedAtNs = (startNs + BigInt(i) * SECOND_NS) as TimeNs;
    for (let n = 0; n < PUBLISHERS; n++)
      if (inputs[n] === undefined || (i + n) % 5 === 0)
        inputs[n] = inputOf(n, name, 100n + BigInt(n), signedAtNs - SECOND_NS + BigInt(n));
    const own = [...inputs].sort((a, b) => (a.wire.publisherKey < b.wire.publisherKey ? -1 : 1));
    const price = (101n * PRICE_SCALE) as Price;
    aggregates.push(
      ...(await signer.sign(name.signatureType, [
        { asset, trigger: 'clock', price, inputs: own, signedAtNs },
      ])),
    );
  }
  await pool.close();
  return aggregates;
}

/** Returns an aggregate as an entry of the past. */
export function entryOf(aggregate: SignedAggregate): ReceivedLine {
  const { symbol, algorithm, signedAtNs: timeNs } = aggregate;
  const shown = shownOf(symbol, algorithm);
  const line = writeAggregateLine(aggregate, shown);
  return { kind: 'priced', timeNs, isCarried: false, line, aggregate, hasInputs: true, shown };
}

export function shownOf(symbol: string, algorithm: SignedAggregate['algorithm']): ReceivedLine['shown'] {
  return {
    serviceName: 'tickseal',
    encodedAssetId: encodedAssetId(symbol, 'base64'),
    version: 'v1',
    checksum: algorithmChecksum(algorithm),
  };
}

/** Returns an entry as REST shows it. */
export function shownText(entry: PastEntry): string {
  return entry.kind === 'priced' ? entry.line : entry.kind;
}
