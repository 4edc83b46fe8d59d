/** The initial room for keys, in bytes for each page. */
const KEY_BYTES = 64;

/** The first and the last key of each leaf of a tree. The reader of the leaves finds the leaves in another order than their keys. */
export class PageEnds {
  readonly #isFreeTree: boolean;
  #keys: Uint8Array;
  #used = 0;
  /** The start and the end of the first key and of the last key, for each leaf. Negative for a leaf without keys. */
  readonly #places: Float64Array;

  /** @param isFreeTree true if keys are integers of eight bytes; otherwise keys are bytes in lexicographic order */
  constructor(leaves: number, isFreeTree: boolean) {
    this.#isFreeTree = isFreeTree;
    this.#keys = new Uint8Array(leaves * KEY_BYTES);
    this.#places = new Float64Array(4 * leaves).fill(-1);
  }

  noteFirst(leaf: number, bytes: Uint8Array, from: number, to: number): void {
    this.#note(4 * leaf, bytes, from, to);
  }

  noteLast(leaf: number, bytes: Uint8Array, from: number, to: number): void {
    this.#note(4 * leaf + 2, bytes, from, to);
  }

  /** Returns the first leaf whose keys do not follow the keys of the leaf before it. A leaf without keys has no place in the order. */
  firstOutOfOrder(): number | undefined {
    const places = this.#places;
    let last = -1;
    for (let at = 0; at < places.length; at += 4) {
      if (places[at]! < 0) continue;
      const isNext =
        last < 0 ||
        this.isAscending(
          this.#keys,
          places[last]!,
          places[last + 1]!,
          this.#keys,
          places[at]!,
          places[at + 1]!,
        );
      if (!isNext) return at / 4;
      last = at + 2;
    }
    return undefined;
  }

  /** Returns whether the first key comes before the second key. */
  isAscending(
    first: Uint8Array,
    firstAt: number,
    firstEnd: number,
    second: Uint8Array,
    secondAt: number,
    secondEnd: number,
  ): boolean {
    if (this.#isFreeTree) {
      for (let i = 7; i >= 0; i--)
        if (first[firstAt + i] !== second[secondAt + i]) return first[firstAt + i]! < second[secondAt + i]!;
      return false;
    }
    const length = Math.min(firstEnd - firstAt, secondEnd - secondAt);
    for (let i = 0; i < length; i++)
      if (first[firstAt + i] !== second[secondAt + i]) return first[firstAt + i]! < second[secondAt + i]!;
    return firstEnd - firstAt < secondEnd - secondAt;
  }

  #note(place: number, bytes: Uint8Array, from: number, to: number): void {
    const end = this.#used + to - from;
    if (end > this.#keys.length) {
      const keys = new Uint8Array(2 * end);
      keys.set(this.#keys);
      this.#keys = keys;
    }
    for (let i = from; i < to; i++) this.#keys[this.#used + i - from] = bytes[i]!;
    this.#places[place] = this.#used;
    this.#places[place + 1] = end;
    this.#used = end;
  }
}
