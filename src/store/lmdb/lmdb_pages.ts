import { fstatSync, readSync } from 'node:fs';

/** The length of a page's header. */
export const HEADER_BYTES = 24;
/** The flags that name the kind of a page. lmdb uses the other flags only in memory. */
const KIND_MASK = 0x6f;
const META = 0x08;
const MAGIC = 0xbeefc0de;
export const TREE_BYTES = 48;
/** The root of an empty tree: 2^64 − 1, as the nearest double. */
export const NO_ROOT = 2 ** 64;
const PAGE_BYTES_MAX = 65_536;
/**
 * The most bytes that one read takes. Blocks of 64 KB and of 1 MB take 5 % and 8 % more time.
 */
const BLOCK_BYTES = 4 * PAGE_BYTES_MAX;
/** The largest distance between neighbours in a block. The block contains the pages between them too. */
const DISTANCE_MAX = 4;

export class Damage extends Error {}

/** `MDB_db`: a tree, with the number of its entries and the number of its pages of each kind. */
export interface Tree {
  /** The number of levels: 1 for a tree that is one leaf. */
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  readonly root: number;
}

export interface Meta {
  readonly transaction: bigint;
  readonly lastPage: number;
  readonly free: Tree;
  readonly main: Tree;
}

/** A page within a block of pages. The next read replaces the bytes. */
export interface Page {
  readonly number: number;
  readonly bytes: Buffer;
  readonly view: DataView;
  /** The offset of the page in the block. */
  readonly at: number;
  /** The offset of the end of the page. */
  readonly end: number;
}

/** The pages of a file of lmdb. */
export class LmdbPages {
  /** The size of a page, until the first page gives the real size. */
  #pageBytes = 4096;
  readonly #fileBytes: number;
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  readonly #view = new DataView(this.#block.buffer);

  constructor(readonly file: number) {
    this.#fileBytes = fstatSync(file).size;
  }

  get isEmpty(): boolean {
    return this.#fileBytes === 0;
  }

  get pageBytes(): number {
    return this.#pageBytes;
  }

  /** Reads the first two pages, which name the two newest states. */
  readMetas(): readonly [Meta, Meta] {
    const { view } = this.#read(0, 1);
    if (view.getUint32(HEADER_BYTES, true) !== MAGIC)
      throw new Damage('it is not a database of this program, or its first page is damaged');
    const pageBytes = view.getUint32(HEADER_BYTES + 24, true);
    const isPossible = pageBytes >= 512 && pageBytes <= PAGE_BYTES_MAX;
    if (!isPossible || !Number.isInteger(Math.log2(pageBytes))) throw new Damage('page 0 is damaged');
    const first = readMeta(view, 0);
    this.#pageBytes = pageBytes;
    return [first, readMeta(this.#read(1, 1).view, 1)];
  }

  /** @throws Damage when the file ends before the end of this page */
  requirePage(number: number): void {
    if ((number + 1) * this.#pageBytes > this.#fileBytes)
      throw new Damage(`it ends before the end of page ${number}`);
  }

  /**
   * Reads pages in the order of the file, several pages at once where they are neighbours.
   * @param numbers the numbers in ascending order
   */
  readAll(numbers: Uint32Array, visit: (page: Page) => void): void {
    const pageBytes = this.#pageBytes;
    const pagesMax = BLOCK_BYTES / pageBytes;
    for (let from = 0; from < numbers.length; ) {
      const first = numbers[from]!;
      let to = from + 1;
      while (
        to < numbers.length &&
        numbers[to]! - numbers[to - 1]! <= DISTANCE_MAX &&
        numbers[to]! - first < pagesMax
      )
        to++;
      const { bytes, view } = this.#read(first, numbers[to - 1]! - first + 1);
      for (; from < to; from++) {
        const number = numbers[from]!;
        const at = (number - first) * pageBytes;
        visit({ number, bytes, view, at, end: at + pageBytes });
      }
    }
  }

  /** Reads a value of several pages. The value begins after the header of the first page. */
  readValue(number: number, valueBytes: number): Buffer {
    const value = Buffer.allocUnsafe(valueBytes);
    if (readSync(this.file, value, 0, valueBytes, number * this.#pageBytes + HEADER_BYTES) < valueBytes)
      throw new Damage('it ends within a value');
    return value;
  }

  #read(first: number, count: number): { bytes: Buffer; view: DataView } {
    const length = count * this.#pageBytes;
    for (let done = 0; done < length; ) {
      const read = readSync(this.file, this.#block, done, length - done, first * this.#pageBytes + done);
      if (read === 0)
        throw new Damage(`it ends before the end of page ${first + Math.floor(done / this.#pageBytes)}`);
      done += read;
    }
    return { bytes: this.#block, view: this.#view };
  }
}

/** Returns the kind of a page, after a check that the page has its own number. */
export function kindOf({ view, at, number }: Page): number {
  if (view.getUint32(at, true) !== number || view.getUint32(at + 4, true) !== 0)
    throw new Damage(`page ${number} is damaged`);
  return view.getUint16(at + 18, true) & KIND_MASK;
}

/** Reads an integer of 64 bits. A result above 2^53 is not exact, and larger than any number of pages. */
export function readInteger(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

export function readTree(view: DataView, at: number): Tree {
  return {
    depth: view.getUint16(at + 6, true),
    branchPages: readInteger(view, at + 8),
    leafPages: readInteger(view, at + 16),
    overflowPages: readInteger(view, at + 24),
    entries: readInteger(view, at + 32),
    root: readInteger(view, at + 40),
  };
}

function readMeta(view: DataView, number: number): Meta {
  const transaction = view.getBigUint64(HEADER_BYTES + 128, true);
  const isMeta =
    view.getUint16(18, true) === META &&
    view.getUint32(HEADER_BYTES, true) === MAGIC &&
    readInteger(view, 0) === number;
  const isInTurn = transaction === 0n || transaction % 2n === BigInt(number);
  if (!isMeta || !isInTurn) throw new Damage(`page ${number} is damaged`);
  return {
    transaction,
    lastPage: readInteger(view, HEADER_BYTES + 120),
    free: readTree(view, HEADER_BYTES + 24),
    main: readTree(view, HEADER_BYTES + 24 + TREE_BYTES),
  };
}
