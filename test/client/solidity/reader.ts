import { build } from './build.js';
import { Chain, type Deployed, type Hex } from './chain.js';
import { type Content, keyOf, NS_PER_S, payloadOf, type Quoted } from './payloads.js';

// A reader on a chain, and updates for it.

export const TAXONOMY_ID = 7;
export const START_S = 1_800_000_000n;
export const KEY = keyOf(1);

export interface Terms {
  readonly needsMarketStatus: boolean;
  readonly maxInputAgeMs: number;
  readonly maxSpreadPpm: number;
  readonly maxQuoteAgeS: number;
  readonly rounds: number;
}

/** Terms that ask for no attribute. */
export const NO_TERMS: Terms = {
  needsMarketStatus: false,
  maxInputAgeMs: 0,
  maxSpreadPpm: 0,
  maxQuoteAgeS: 60,
  rounds: 1,
};

export const readerCode = build('TicksealReader.sol');
export const feedCode = build('TicksealFeed.sol');

/** Deploys a reader whose signer is {@link KEY}, on a new chain or on an existing one. */
export async function deployReader(terms: Partial<Terms> = {}, beside?: Chain): Promise<Deployed> {
  const chain = beside ?? (await Chain.create());
  if (beside === undefined) chain.timeS = START_S;
  return chain.deploy(readerCode, [TAXONOMY_ID, 60n, 30n, [KEY.address], { ...NO_TERMS, ...terms }]);
}

export function deployFeed(
  { chain, address }: Deployed,
  { assetId = 1, decimals = 8, maxAgeS = 0n, description = 'BTC / USD' } = {},
): Promise<Deployed> {
  return chain.deploy(feedCode, [address, assetId, decimals, maxAgeS, description]);
}

/** Returns a payload of {@link KEY}, dated `START_S` and some nanoseconds. */
export function updateAt(ns: bigint, assets: readonly Quoted[], content: Partial<Content> = {}): Hex {
  return payloadOf(KEY, {
    taxonomyId: TAXONOMY_ID,
    timestampNs: START_S * NS_PER_S + ns,
    assets,
    ...content,
  });
}
