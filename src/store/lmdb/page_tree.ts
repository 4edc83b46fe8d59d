import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The version of lmdb whose `mdb.c` defines the layout below. A test fails when a different version is installed. */
export const LMDB_VERSION = '3.5.6';

/**
 * Finds damaged pages. lmdb maps its file into memory and follows the page numbers in the file without checks, so a damaged number
 * ends the process or leads to other records. Before lmdb opens a file, this function therefore reads the newest state from the
 * root to the last record, and checks what lmdb assumes:
 * - each page exists, has its own number, and is used once,
 * - each page contains its entries completely and in order,
 * - the counts of pages and entries are right.
 *
 * Checksums protect the contents of records. This function reads only the first page of a value of several pages. A file of 437 MB
 * took 1.5 s on two shared cores.
 *
 * The layout is that of `MDB_page`, `MDB_node`, `MDB_db` and `MDB_meta` in the `mdb.c` of {@link LMDB_VERSION}, on a 64-bit
 * machine.
 * @param onPage called repeatedly with the number of pages read so far and the number of all pages
 * @returns the damage; `undefined` without damage. An empty file is a new database.
 */
export function findPageDamage(
  path: string,
  onPage: (done: number, total: number) => void = () => {},
): string | undefined {
  const file = openSync(path, 'r');
  try {
    const pages = new Pages(file);
    if (pages.isEmpty()) return undefined;
    const first = readMeta(pages.readFirst(), 0);
    const second = readMeta(pages.read(1), 1);
    // Commits alternate between the two pages. So the pages' transaction numbers differ by one, unless there was no commit yet. A copy
    // without free pages has its state in the second page and no state in the first page.
    const gap = first.transaction - second.transaction;
    const isCopy = first.transaction === 0n && first.main.root === NO_ROOT && first.free.root === NO_ROOT;
    if (gap !== 1n && gap !== -1n && first.transaction + second.transaction > 1n && !isCopy)
      throw new Damage('its first two pages do not follow each other');
    new TreeWalk(pages, gap > 0n ? first : second, onPage).check();
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  } finally {
    closeSync(file);
  }
}

const HEADER_BYTES = 24;
const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const META = 0x08;
/** The flags that name the kind of a page. lmdb uses the other flags only in memory. */
const KIND_MASK = 0x6f;
const MAGIC = 0xbeefc0de;
const NODE_BYTES = 8;
const NODE_IS_BIG = 0x01;
const NODE_IS_TREE = 0x02;
const TREE_BYTES = 48;
const NO_ROOT = 2n ** 64n - 1n;
const PAGE_BYTES_MAX = 65_536;
const PAGES_MAX = 2 ** 28;
/** The largest depth. No real tree is so deep, because pages have dozens of entries. */
const DEPTH_MAX = 32;
/** The interval of progress reports, in reads of pages. */
const TELL_READS = 1_000;

class Damage extends Error {}

/** `MDB_db`: a tree, with the number of its entries and the number of its pages of each kind. */
interface Tree {
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  readonly root: bigint;
}

interface Meta {
  readonly transaction: bigint;
  readonly lastPage: number;
  readonly free: Tree;
  readonly main: Tree;
}

class Pages {
  /** The size of a page, until the first page gives the real size. */
  #pageBytes = 4096;

  constructor(readonly file: number) {}

  isEmpty(): boolean {
    return fstatSync(this.file).size === 0;
  }

  readFirst(): Buffer {
    const page = this.read(0);
    if (page.readUInt32LE(HEADER_BYTES) !== MAGIC)
      throw new Damage('it is not a database of this program, or its first page is damaged');
    this.#pageBytes = page.readUInt32LE(HEADER_BYTES + 24);
    const isPossible = this.#pageBytes >= 512 && this.#pageBytes <= PAGE_BYTES_MAX;
    if (!isPossible || !Number.isInteger(Math.log2(this.#pageBytes))) throw new Damage('page 0 is damaged');
    return page;
  }

  read(number: number): Buffer {
    const page = Buffer.allocUnsafe(this.#pageBytes);
    const length = readSync(this.file, page, 0, page.length, number * this.#pageBytes);
    if (length < page.length) throw new Damage(`it ends before the end of page ${number}`);
    return page;
  }

  /** Reads a value of several pages. The value begins after the header of the first page. */
  readValue(pointer: Buffer, valueBytes: number): Buffer {
    const value = Buffer.allocUnsafe(valueBytes);
    const at = Number(pointer.readBigUInt64LE(0)) * this.#pageBytes + HEADER_BYTES;
    if (readSync(this.file, value, 0, valueBytes, at) < valueBytes)
      throw new Damage('it ends within a value');
    return value;
  }
}

function readMeta(page: Buffer, number: number): Meta {
  const transaction = page.readBigUInt64LE(HEADER_BYTES + 128);
  const isMeta =
    page.readUInt16LE(18) === META &&
    page.readUInt32LE(HEADER_BYTES) === MAGIC &&
    page.readBigUInt64LE(0) === BigInt(number);
  const isInTurn = transaction === 0n || transaction % 2n === BigInt(number);
  if (!isMeta || !isInTurn) throw new Damage(`page ${number} is damaged`);
  return {
    transaction,
    lastPage: Number(page.readBigUInt64LE(HEADER_BYTES + 120)),
    free: readTree(page, HEADER_BYTES + 24),
    main: readTree(page, HEADER_BYTES + 24 + TREE_BYTES),
  };
}

function readTree(page: Buffer, at: number): Tree {
  const count = (offset: number) => Number(page.readBigUInt64LE(at + offset));
  return {
    branchPages: count(8),
    leafPages: count(16),
    overflowPages: count(24),
    entries: count(32),
    root: page.readBigUInt64LE(at + 40),
  };
}

class TreeWalk {
  readonly #used: Uint8Array;
  readonly #freePages: number[] = [];
  #usedCount = 0;
  #reads = 0;

  constructor(
    readonly pages: Pages,
    readonly meta: Meta,
    readonly onPage: (done: number, total: number) => void,
  ) {
    if (meta.lastPage > PAGES_MAX) throw new Damage('its newest state is damaged');
    this.#used = new Uint8Array(meta.lastPage + 1);
  }

  check(): void {
    this.#use(0n, 1);
    this.#use(1n, 1);
    this.#checkTree(this.meta.free, (a, b) => Number(a.readBigUInt64LE() - b.readBigUInt64LE()));
    this.#checkTree(this.meta.main, Buffer.compare);
    for (const page of this.#freePages)
      if (this.#used[page] === 1) throw new Damage(`page ${page} is in use and counts as free`);
  }

  /** Reads a list of free pages. The list is the count, followed by the page numbers; a negative entry is a length. */
  #noteFree(list: Buffer): void {
    const count = list.length < 8 ? -1 : Number(list.readBigInt64LE(0));
    // A list may have more room than its entries need, because lmdb reserves more.
    if (count < 0 || 8 * (count + 1) > list.length) throw new Damage('a list of free pages is damaged');
    for (let at = 8; at <= 8 * count; at += 8) {
      const page = Number(list.readBigInt64LE(at));
      if (Math.abs(page) >= this.#used.length)
        throw new Damage(`it has no page ${page}, which counts as free`);
      if (page > 0) this.#freePages.push(page);
    }
  }

  #checkTree(tree: Tree, compare: (a: Buffer, b: Buffer) => number): void {
    const found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    let previous: Buffer | undefined;
    const visit = (number: bigint, depth: number): void => {
      this.#use(number, 1);
      const page = this.pages.read(Number(number));
      const kind = page.readUInt16LE(18) & KIND_MASK;
      if (page.readBigUInt64LE(0) !== number || (kind !== BRANCH && kind !== LEAF) || depth > DEPTH_MAX)
        throw new Damage(`page ${number} is damaged`);
      if (kind === BRANCH) found.branchPages++;
      else found.leafPages++;
      for (const node of nodesOf(page, number)) {
        if (kind === BRANCH) {
          visit(childOf(page, node), depth + 1);
          continue;
        }
        found.entries++;
        const { key, data, dataBytes, flags } = leafNode(page, node, number);
        if (previous !== undefined && compare(previous, key) >= 0)
          throw new Damage(`the entries of page ${number} are out of order`);
        previous = key;
        if (flags === NODE_IS_BIG) found.overflowPages += this.#checkOverflow(data, dataBytes);
        else if (flags === NODE_IS_TREE) this.#checkTree(readTree(data, 0), Buffer.compare);
        else if (flags !== 0) throw new Damage(`page ${number} is damaged`);
        if (tree === this.meta.free)
          this.#noteFree(flags === NODE_IS_BIG ? this.pages.readValue(data, dataBytes) : data);
      }
    };
    if (tree.root !== NO_ROOT) visit(tree.root, 0);
    for (const [what, count] of Object.entries(found))
      if (tree[what as keyof typeof found] !== count)
        throw new Damage(`it has ${count} ${what} where ${tree[what as keyof typeof found]} were counted`);
  }

  /** Checks a value of several pages. Only the first page has a header. */
  #checkOverflow(data: Buffer, valueBytes: number): number {
    const number = data.readBigUInt64LE(0);
    const count = Number(data.readBigUInt64LE(16));
    this.#use(number, count);
    const page = this.pages.read(Number(number));
    const isWhole =
      page.readBigUInt64LE(0) === number &&
      (page.readUInt16LE(18) & KIND_MASK) === OVERFLOW &&
      page.readUInt32LE(20) === count &&
      HEADER_BYTES + valueBytes <= count * page.length;
    if (!isWhole) throw new Damage(`page ${number} is damaged`);
    this.pages.read(Number(number) + count - 1);
    return count;
  }

  #use(number: bigint, count: number): void {
    const first = Number(number);
    if (!(count > 0 && first + count <= this.#used.length)) throw new Damage(`it has no page ${number}`);
    for (let at = first; at < first + count; at++) {
      if (this.#used[at] === 1) throw new Damage(`page ${at} is used twice`);
      this.#used[at] = 1;
    }
    this.#usedCount += count;
    if (++this.#reads % TELL_READS === 0) this.onPage(this.#usedCount, this.#used.length);
  }
}

/** Returns the offsets of the entries of a branch or leaf. */
function nodesOf(page: Buffer, number: bigint): number[] {
  const lower = page.readUInt16LE(20);
  const upper = page.readUInt16LE(22);
  if (lower % 2 !== 0 || lower > upper || upper > page.length - HEADER_BYTES)
    throw new Damage(`page ${number} is damaged`);
  return Array.from({ length: lower / 2 }, (_, i) => {
    const at = page.readUInt16LE(HEADER_BYTES + 2 * i);
    if (at < upper || at + HEADER_BYTES + NODE_BYTES > page.length)
      throw new Damage(`page ${number} is damaged`);
    return at + HEADER_BYTES;
  });
}

/** Returns the page to which an entry of a branch points: 48 bits, as on a little-endian machine. */
function childOf(page: Buffer, node: number): bigint {
  return BigInt(page.readUIntLE(node, 6));
}

function leafNode(page: Buffer, node: number, number: bigint) {
  const dataBytes = page.readUInt32LE(node);
  const flags = page.readUInt16LE(node + 4);
  const keyEnd = node + NODE_BYTES + page.readUInt16LE(node + 6);
  const dataEnd = keyEnd + (flags === NODE_IS_BIG ? HEADER_BYTES : dataBytes);
  const isTree = flags === NODE_IS_TREE;
  if (dataEnd > page.length || (isTree && dataBytes !== TREE_BYTES))
    throw new Damage(`page ${number} is damaged`);
  return {
    key: page.subarray(node + NODE_BYTES, keyEnd),
    data: page.subarray(keyEnd, dataEnd),
    dataBytes,
    flags,
  };
}
