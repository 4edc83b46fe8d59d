/** The place of the asset in a key of the table `seconds`: after the second in 9 bytes, and a zero. */
const ASSET_AT = 10;
/** The first bytes of a positive number in a key, and of a text that needs no escape, in the encoding of lmdb's keys. */
const POSITIVE_FIRST = 0x10;
const POSITIVE_END = 0x18;
const TEXT_FIRST = 0x20;
const TEXT_END = 0x80;

/** The collected seconds of an asset. */
interface AssetSeconds {
  readonly assetKey: string;
  /** The bytes of `assetKey` in the keys. */
  readonly bytes: Buffer;
  readonly seconds: number[];
  /** The asset of the key that last came after a key of this asset. */
  next: AssetSeconds | undefined;
}

/**
 * The keys of the table `seconds`, which the check of the pages reads anyway. Collecting these keys saves the start from reading each key
 * again through lmdb. Most keys have the second of the key before, and the asset that followed the same asset before.
 */
export class StoredSeconds {
  readonly #assets = new Map<string, AssetSeconds>();
  readonly #number = new DataView(new ArrayBuffer(8));
  #count = 0;
  /** The bytes of the second in the last key, as three numbers, and the second. */
  #high = 0;
  #low = 0;
  #end = -1;
  #second = 0;
  #last: AssetSeconds | undefined;

  /** Collects a key. The keys may come in any order. Leaves out a key that is not a second and a text of ASCII. */
  readonly note = (bytes: Buffer, view: DataView, from: number, to: number): void => {
    if (to - from <= ASSET_AT || bytes[from + ASSET_AT - 1] !== 0) return;
    if (!this.#readSecond(bytes, view, from)) return;
    const assetAt = from + ASSET_AT;
    const guess = this.#last?.next;
    const asset =
      guess !== undefined && isAt(guess.bytes, bytes, assetAt, to) ? guess : this.#find(bytes, assetAt, to);
    if (asset === undefined) return;
    if (this.#last !== undefined) this.#last.next = asset;
    this.#last = asset;
    asset.seconds.push(this.#second);
    this.#count++;
  };

  /**
   * Returns the seconds by the text that names the asset, ascending. The caller may change the arrays.
   * @returns `undefined` if the collected keys are not all keys of a table of `recordCount` records
   */
  byAsset(recordCount: number): ReadonlyMap<string, number[]> | undefined {
    if (this.#count !== recordCount) return undefined;
    return new Map([...this.#assets.values()].map(({ assetKey, seconds }) => [assetKey, ascending(seconds)]));
  }

  /** Reads the second of a key. @returns false for another kind of key */
  #readSecond(bytes: Buffer, view: DataView, from: number): boolean {
    const high = view.getUint32(from);
    const low = view.getUint32(from + 4);
    const end = bytes[from + 8]!;
    if (high === this.#high && low === this.#low && end === this.#end) return true;
    if (bytes[from]! < POSITIVE_FIRST || bytes[from]! >= POSITIVE_END) return false;
    this.#high = high;
    this.#low = low;
    this.#end = end;
    // The encoding moves the bits of the double by four, so the first byte shows the kind of the key.
    this.#number.setUint32(0, (high << 4) | (low >>> 28));
    this.#number.setUint32(4, (low << 4) | (end >>> 4));
    this.#second = this.#number.getFloat64(0);
    return true;
  }

  #find(bytes: Buffer, from: number, to: number): AssetSeconds | undefined {
    for (let at = from; at < to; at++)
      if (bytes[at]! < TEXT_FIRST || bytes[at]! >= TEXT_END) return undefined;
    const assetKey = bytes.toString('latin1', from, to);
    let asset = this.#assets.get(assetKey);
    if (asset === undefined) {
      asset = { assetKey, bytes: Buffer.from(assetKey, 'latin1'), seconds: [], next: undefined };
      this.#assets.set(assetKey, asset);
    }
    return asset;
  }
}

/** Returns whether the bytes from `from` to `to` are these. */
function isAt(wanted: Buffer, bytes: Buffer, from: number, to: number): boolean {
  if (to - from !== wanted.length) return false;
  for (let i = 0; i < wanted.length; i++) if (bytes[from + i] !== wanted[i]) return false;
  return true;
}

function ascending(seconds: number[]): number[] {
  for (let i = 1; i < seconds.length; i++)
    if (seconds[i - 1]! > seconds[i]!) return Array.from(Float64Array.from(seconds).sort());
  return seconds;
}
