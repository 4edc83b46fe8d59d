/** The initial room for keys, in bytes for each page. */
const KEY_BYTES = 64;
const WORD_BYTES = 4;

/** The first and the last key of each leaf of a tree. The reader of the leaves finds the leaves in another order than their keys. */
export class PageEnds {
  readonly #isFreeTree: boolean;
  #keys: DataView;
  #used = 0;
  /** The start and the end of the first key and of the last key, for each leaf. Negative for a leaf without keys. */
  readonly #places: Float64Array;

  /** @param isFreeTree true if keys are integers of eight bytes; otherwise keys are bytes in lexicographic order */
  constructor(leaves: number, isFreeTree: boolean) {
    this.#isFreeTree = isFreeTree;
    this.#keys = new DataView(new ArrayBuffer(leaves * KEY_BYTES));
    this.#places = new Float64Array(4 * leaves).fill(-1);
  }

  noteFirst(leaf: number, page: DataView, from: number, to: number): void {
    this.#note(4 * leaf, page, from, to);
  }

  noteLast(leaf: number, page: DataView, from: number, to: number): void {
    this.#note(4 * leaf + 2, page, from, to);
  }

  /** Returns the first leaf whose keys do not follow the keys of the leaf before it. A leaf without keys has no place in the order. */
  firstOutOfOrder(): number | undefined {
    const places = this.#places;
    const keys = this.#keys;
    let last = -1;
    for (let at = 0; at < places.length; at += 4) {
      if (places[at]! < 0) continue;
      const isNext =
        last < 0 ||
        this.isAscending(keys, places[last]!, places[last + 1]!, keys, places[at]!, places[at + 1]!);
      if (!isNext) return at / 4;
      last = at + 2;
    }
    return undefined;
  }

  /** Returns whether the first key comes before the second key. */
  isAscending(
    first: DataView,
    firstAt: number,
    firstEnd: number,
    second: DataView,
    secondAt: number,
    secondEnd: number,
  ): boolean {
    return this.#isFreeTree
      ? isSmaller(first, firstAt, second, secondAt)
      : isBefore(first, firstAt, firstEnd, second, secondAt, secondEnd);
  }

  #note(place: number, page: DataView, from: number, to: number): void {
    const start = this.#used;
    const end = start + to - from;
    this.#used = end;
    if (end > this.#keys.byteLength) this.#grow();
    const keys = this.#keys;
    let at = start;
    for (; at + WORD_BYTES <= end; at += WORD_BYTES) keys.setUint32(at, page.getUint32(from + at - start));
    for (; at < end; at++) keys.setUint8(at, page.getUint8(from + at - start));
    this.#places[place] = start;
    this.#places[place + 1] = end;
  }

  #grow(): void {
    const keys = new Uint8Array(2 * this.#used);
    keys.set(new Uint8Array(this.#keys.buffer));
    this.#keys = new DataView(keys.buffer);
  }
}

/** Compares integers of eight bytes, little-endian. */
function isSmaller(first: DataView, firstAt: number, second: DataView, secondAt: number): boolean {
  const high = first.getUint32(firstAt + 4, true) - second.getUint32(secondAt + 4, true);
  return high === 0 ? first.getUint32(firstAt, true) < second.getUint32(secondAt, true) : high < 0;
}

/** Compares keys in lexicographic order, several bytes at a time where the keys are long enough. */
function isBefore(
  first: DataView,
  firstAt: number,
  firstEnd: number,
  second: DataView,
  secondAt: number,
  secondEnd: number,
): boolean {
  const length = Math.min(firstEnd - firstAt, secondEnd - secondAt);
  let i = 0;
  for (; i + WORD_BYTES <= length; i += WORD_BYTES) {
    const a = first.getUint32(firstAt + i);
    const b = second.getUint32(secondAt + i);
    if (a !== b) return a < b;
  }
  for (; i < length; i++) {
    const a = first.getUint8(firstAt + i);
    const b = second.getUint8(secondAt + i);
    if (a !== b) return a < b;
  }
  return firstEnd - firstAt < secondEnd - secondAt;
}
