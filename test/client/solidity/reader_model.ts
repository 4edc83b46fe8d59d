import { START_S, type Terms } from './reader.js';

// A slow model of TicksealReader: keys with their times, announcements, and the newest price of each asset.

const NS_PER_S = 1_000_000_000n;
const FOREVER = 2n ** 64n - 1n;
const CLOCK_S = 3_600n;
const GRACE_S = 60n;
export const MAX_AGE_S = 60n;
export const MAX_FUTURE_S = 30n;

/** The facts about a payload, and what is wrong with it. */
export interface ModelPayload {
  readonly signer: number;
  readonly timestampNs: bigint;
  readonly taxonomyId: number;
  readonly attributes: number;
  readonly assets: readonly ModelAsset[];
  readonly fault?: 'signature' | 'length' | undefined;
}

export interface ModelAsset {
  readonly id: number;
  readonly value: bigint;
  readonly status: number;
  readonly ageMs: number;
  readonly publishers: number;
  readonly spreadPpm: number;
}

export interface ModelList {
  readonly version: number;
  readonly issuedS: bigint;
  readonly expiresS: bigint;
  readonly keys: readonly {
    readonly signer: number;
    readonly fromS: bigint;
    readonly untilS: bigint | undefined;
  }[];
}

export interface ModelPrice {
  readonly value: bigint;
  readonly timestampNs: bigint;
  readonly round: number;
  readonly spreadPpm: number;
  readonly marketStatus: number;
  readonly publishers: number;
}

const REFUSALS = [
  '',
  'NotNewer',
  'AttributeMissing',
  'MarketClosed',
  'InputsTooOld',
  'SpreadTooWide',
] as const;
type Refusal = Exclude<(typeof REFUSALS)[number], ''>;

/** The result of a call: `ok`, or the name of the error, with the reason of a refused price. */
export type Verdict = string;

export class ReaderModel {
  nowS = START_S;
  readonly prices = new Map<number, ModelPrice>();
  readonly #spans = new Map<number, { fromS: bigint; untilS: bigint }>();
  #root = false;
  #last: ModelList | undefined;

  constructor(
    readonly terms: Terms,
    readonly taxonomyId: number,
    signers: readonly number[],
  ) {
    for (const signer of signers) this.setSigner(signer, true);
  }

  setSigner(signer: number, isAccepted: boolean): Verdict {
    this.#spans.set(signer, { fromS: 0n, untilS: isAccepted ? FOREVER : 0n });
    return 'ok';
  }

  setSignerUntil(signer: number, untilS: bigint): Verdict {
    this.#spans.set(signer, { fromS: 0n, untilS });
    return 'ok';
  }

  /** Follows the root or no root. */
  setRoot(isSet: boolean): Verdict {
    this.#removeAnnounced();
    this.#root = isSet;
    this.#last = undefined;
    return 'ok';
  }

  announce(lists: readonly ModelList[]): Verdict {
    if (!this.#root) return 'NoRoot';
    if (lists.length === 0) return 'NoAnnouncement';
    let last = this.#last;
    for (const list of lists) {
      if (last !== undefined && list.version !== last.version + 1) return 'BrokenChain';
      const isDated = list.expiresS > list.issuedS && list.issuedS <= this.nowS + CLOCK_S;
      if (!isDated || (last !== undefined && list.issuedS < last.issuedS)) return 'WrongAnnouncementTime';
      last = list;
    }
    const { expiresS, keys } = last!;
    if (expiresS <= this.nowS) return 'WrongAnnouncementTime';
    this.#removeAnnounced();
    this.#last = last;
    for (const { signer, fromS, untilS } of keys) {
      const end = untilS === undefined ? expiresS : untilS + GRACE_S;
      this.#spans.set(signer, {
        fromS: fromS < GRACE_S ? 0n : fromS - GRACE_S,
        untilS: end < expiresS ? end : expiresS,
      });
    }
    return 'ok';
  }

  /** @param some the assets to store; all by default */
  update(payload: ModelPayload, some?: readonly number[]): Verdict {
    const fault = this.#faultOf(payload);
    if (fault !== undefined) return fault;
    const ids = some ?? payload.assets.map(({ id }) => id);
    const assets = ids.map((id) => payload.assets.find((asset) => asset.id === id));
    if (assets.includes(undefined)) return 'AssetMissing';
    if (payload.timestampNs / NS_PER_S > this.nowS) return 'AheadOfBlock';
    let first: string | undefined;
    let stored = 0;
    for (const asset of assets as ModelAsset[]) {
      const why = this.#store(payload, asset);
      if (why === undefined) stored += 1;
      else if (stored === 0) first ??= `Refused ${asset.id} ${REFUSALS.indexOf(why)}`;
    }
    return stored > 0 ? 'ok' : (first ?? 'Refused 0 0');
  }

  #faultOf({ fault, taxonomyId, timestampNs, signer, assets }: ModelPayload): Verdict | undefined {
    if (fault === 'length') return 'WrongLength';
    if (taxonomyId !== this.taxonomyId) return 'WrongTaxonomy';
    const timeS = timestampNs / NS_PER_S;
    if (timeS + MAX_AGE_S < this.nowS) return 'TooOld';
    if (timeS > this.nowS + MAX_FUTURE_S) return 'InTheFuture';
    if (fault === 'signature') return 'InvalidSignature';
    const { fromS, untilS } = this.#spans.get(signer) ?? { fromS: 0n, untilS: 0n };
    if (this.nowS < fromS || this.nowS >= untilS) return 'UnknownSigner';
    return assets.some(({ id }, i) => i > 0 && id <= assets[i - 1]!.id) ? 'UnorderedAssets' : undefined;
  }

  #store({ timestampNs, attributes }: ModelPayload, asset: ModelAsset): Refusal | undefined {
    const before = this.prices.get(asset.id);
    if (before !== undefined && timestampNs <= before.timestampNs) return 'NotNewer';
    const has = (bit: number) => (attributes & (1 << bit)) !== 0;
    const { needsMarketStatus, maxInputAgeMs, maxSpreadPpm } = this.terms;
    if (needsMarketStatus && !has(1)) return 'AttributeMissing';
    if (maxInputAgeMs > 0 && !has(2)) return 'AttributeMissing';
    if (maxSpreadPpm > 0 && !has(4)) return 'AttributeMissing';
    if (has(1) && asset.status === 0) return 'MarketClosed';
    if (maxInputAgeMs > 0 && asset.ageMs > maxInputAgeMs) return 'InputsTooOld';
    if (has(4) && asset.spreadPpm > (maxSpreadPpm || 655_350)) return 'SpreadTooWide';
    this.prices.set(asset.id, {
      value: asset.value,
      timestampNs,
      round: (before?.round ?? 0) + 1,
      spreadPpm: has(4) ? Math.ceil(asset.spreadPpm / 10) * 10 : 0,
      marketStatus: has(1) ? asset.status : 255,
      publishers: has(3) ? asset.publishers : 0,
    });
    return undefined;
  }

  #removeAnnounced(): void {
    for (const { signer } of this.#last?.keys ?? []) this.setSigner(signer, false);
  }
}
