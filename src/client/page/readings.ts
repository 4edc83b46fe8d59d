import type { SignatureType } from '../../wire/signatures.js';
import type { TaxonomyAsset } from '../index.js';
import { assetKey } from './board.js';

/** The time after which a failed request is repeated. */
const RETRY_MS = 15_000;

export interface ReadingsOptions<T> {
  /** The largest number of assets in a request. */
  readonly assetsMax: number;
  /** The largest number of stored values. Above this number, the value that was read the longest time ago is removed. */
  readonly keptMax: number;
  /** Returns the time at which a value that is read now becomes old, in UNIX ms. */
  readonly dueMs: (nowMs: number) => number;
  /** Reads the values of assets of one type, by symbol. */
  readonly read: (assets: readonly TaxonomyAsset[], type: SignatureType) => Promise<ReadonlyMap<string, T>>;
  /** Returns the service's time in UNIX ms. */
  readonly nowMs: () => number;
}

interface KeptReading<T> {
  /** The value; `undefined` for an asset without one, and when no attempt has succeeded. */
  readonly value: T | undefined;
  readonly dueMs: number;
}

/**
 * The values of the visible assets, which are not signed. A request reads many assets, and only one request is in progress at a
 * time, because a page with hundreds of assets must leave enough of its request rate for its chart and its proof.
 */
export class Readings<T> {
  readonly #options: ReadingsOptions<T>;
  readonly #kept = new Map<string, KeptReading<T>>();
  #wanted: readonly TaxonomyAsset[] = [];
  #isReading = false;

  constructor(options: ReadingsOptions<T>) {
    this.#options = options;
  }

  /** Returns the newest value of an asset, even if it is old. */
  get(asset: TaxonomyAsset): T | undefined {
    return this.#kept.get(assetKey(asset))?.value;
  }

  /** Replaces the value of an asset, which becomes old at the same time as before. */
  protected replace(asset: TaxonomyAsset, value: T): void {
    const key = assetKey(asset);
    const before = this.#kept.get(key);
    if (before !== undefined) this.#kept.set(key, { ...before, value });
  }

  /** Reads the absent or old values of these assets. Drops assets of earlier calls that are not in the list. */
  async read(assets: readonly TaxonomyAsset[]): Promise<void> {
    this.#wanted = assets;
    if (this.#isReading) return;
    this.#isReading = true;
    for (let next = this.#nextAssets(); next.length > 0; next = this.#nextAssets())
      await this.#readSome(next);
    this.#isReading = false;
  }

  /** Reads the values of these assets, even if they are known. */
  async refresh(assets: readonly TaxonomyAsset[]): Promise<void> {
    const { assetsMax } = this.#options;
    for (const type of ['evm', 'stark'] as const) {
      const ofType = assets.filter(({ signatureType }) => signatureType === type);
      for (let i = 0; i < ofType.length; i += assetsMax) await this.#readSome(ofType.slice(i, i + assetsMax));
    }
  }

  /** Returns the first wanted assets of one kind whose value is absent. If no value is absent, returns those with an old one. */
  #nextAssets(): readonly TaxonomyAsset[] {
    const { assetsMax, nowMs } = this.#options;
    const absent = this.#wanted.filter((asset) => !this.#kept.has(assetKey(asset)));
    const isOld = (asset: TaxonomyAsset) => this.#kept.get(assetKey(asset))!.dueMs <= nowMs();
    const due = absent.length > 0 ? absent : this.#wanted.filter(isOld);
    return due.filter((asset) => kindOf(asset) === kindOf(due[0]!)).slice(0, assetsMax);
  }

  async #readSome(assets: readonly TaxonomyAsset[]): Promise<void> {
    const { read, nowMs, dueMs } = this.#options;
    const askedMs = nowMs();
    let found: ReadonlyMap<string, T> | undefined;
    try {
      found = await read(assets, assets[0]!.signatureType);
    } catch {
      // An older value stays until the next attempt.
    }
    for (const asset of assets)
      this.#keepReading(asset, {
        value: found === undefined ? this.get(asset) : found.get(asset.symbol),
        dueMs: found === undefined ? nowMs() + RETRY_MS : dueMs(askedMs),
      });
  }

  #keepReading(asset: TaxonomyAsset, kept: KeptReading<T>): void {
    const key = assetKey(asset);
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#options.keptMax) break;
      this.#kept.delete(oldest);
    }
  }
}

/** Returns the signature type, and whether the asset has market hours: a closed market needs a longer history. */
function kindOf({ signatureType, calendar }: TaxonomyAsset): string {
  return `${signatureType} ${calendar === 'none'}`;
}
