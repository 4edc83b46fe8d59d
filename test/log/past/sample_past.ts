import { createHash } from 'node:crypto';
import { algorithmChecksum } from '../../../src/crypto/algorithm_definition.js';
import { evmAggregateHash, evmPriceHash } from '../../../src/crypto/evm.js';
import type { Holding } from '../../../src/log/records/holding.js';
import { pricedHolding } from '../../../src/log/records/holding.js';
import { type ShownFacts, writeAggregateLine } from '../../../src/log/records/signed_line.js';
import type { AggregationType } from '../../../src/model/asset.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import { toHex } from '../../../src/model/hex.js';
import type { Price } from '../../../src/model/price.js';
import type { PublisherPrice, SignedAggregate } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';

const ADDRESS = '0xC4a02e7D370402F4aFC36032076B05e74FF81786';
const HOUR_NS = 3_600_000_000_000n;
/** 2026-11-24T01:00:00Z. */
export const HOUR_START_NS = 1_795_482_000_000_000_000n as TimeNs;
export const DAY_NS = 24n * HOUR_NS;

export function evmName(symbol: string): AssetName {
  return { symbol, signatureType: 'evm' };
}

/** Creates incompressible bytes, like the bytes of signatures. */
export function wordOf(seed: string): Buffer {
  return createHash('sha256').update(seed).digest();
}

/** Returns an input with a correct hash. The price has two decimals, and the time has nanoseconds. */
export function inputOf(symbol: string, publisher: number, timestampNs: TimeNs): PublisherPrice {
  const seed = `${symbol} ${publisher} ${timestampNs}`;
  const cents = 9_123_456n + BigInt(wordOf(seed).readUInt16LE(0) % 5_000);
  const price = (cents * 10n ** 16n) as Price;
  const address = wordOf(`publisher ${publisher}`).subarray(0, 20);
  return {
    price,
    timestampNs,
    wire: {
      publisherKey: toHex(address),
      externalAssetId: symbol,
      price: String(price),
      r: toHex(wordOf(`r ${seed}`)),
      s: toHex(wordOf(`s ${seed}`)),
      v: publisher % 2 === 0 ? '0x1b' : '0x1c',
      msgHash: toHex(evmPriceHash(address, symbol, timestampNs, price)),
      metadata: undefined,
    },
  };
}

export function aggregateOf(
  symbol: string,
  signedAtNs: TimeNs,
  inputs: readonly PublisherPrice[],
): SignedAggregate {
  const seed = `${symbol} ${signedAtNs}`;
  const price = ((inputs[0]!.price + inputs.at(-1)!.price) / 2n) as Price;
  const merkleRoot = wordOf(`root ${seed}`);
  const checksum = Buffer.from(algorithmChecksum('median'), 'hex');
  const address = Buffer.from(ADDRESS.slice(2), 'hex');
  return {
    symbol,
    trigger: signedAtNs % 3n === 0n ? 'delta' : 'clock',
    price,
    timestampNs: inputs.reduce(
      (newest, one) => (one.timestampNs > newest ? one.timestampNs : newest),
      0n as TimeNs,
    ),
    signedAtNs,
    signatureType: 'evm',
    publicKey: ADDRESS,
    msgHash: evmAggregateHash({ address, symbol, signedAtNs, price, merkleRoot, checksum }),
    r: wordOf(`r ${seed}`),
    s: wordOf(`s ${seed}`),
    v: 27 + Number(signedAtNs % 2n),
    merkleRoot,
    algorithm: 'median',
    inputs,
  };
}

/**
 * Creates aggregates of one asset. Each input counts in `uses` aggregates.
 * @param stepNs the approximate time between two aggregates
 */
export function* aggregatesOf(
  symbol: string,
  startNs: bigint,
  count: number,
  { publishers = 4, uses = 10, stepNs = 2_500_000_000n } = {},
): Iterable<SignedAggregate> {
  const inputs: PublisherPrice[] = [];
  let timeNs = startNs;
  for (let i = 0; i < count; i++) {
    timeNs += stepNs + BigInt(wordOf(`${symbol} step ${i}`).readUInt32LE(0) % 20_000_000);
    for (let publisher = 0; publisher < publishers; publisher++)
      if (inputs[publisher] === undefined || (i + 3 * publisher) % uses === 0)
        inputs[publisher] = inputOf(symbol, publisher, (timeNs - 50_000_000n - BigInt(publisher)) as TimeNs);
    yield aggregateOf(symbol, timeNs as TimeNs, [...inputs]);
  }
}

export function holdingOfAggregate(aggregate: SignedAggregate): Holding {
  return pricedHolding(textOf(aggregate), aggregate.signedAtNs, undefined, aggregate);
}

/** Returns the facts that aggregates show. */
function shownOf(symbol: string, algorithm: AggregationType): ShownFacts {
  return {
    serviceName: 'tickseal',
    encodedAssetId: `encoded ${symbol}`,
    version: 'v1',
    checksum: algorithmChecksum(algorithm),
  };
}

/** Returns the line of an aggregate. */
export function textOf(aggregate: SignedAggregate): string {
  return writeAggregateLine(aggregate, shownOf(aggregate.symbol, aggregate.algorithm));
}
