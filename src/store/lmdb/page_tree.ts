import { closeSync, openSync } from 'node:fs';
import {
  Damage,
  HEADER_BYTES,
  kindOf,
  LmdbPages,
  type Meta,
  NO_ROOT,
  type Page,
  readInteger,
  readTree,
  TREE_BYTES,
  type Tree,
} from './lmdb_pages.js';
import { PageEnds } from './page_ends.js';

/** The version of lmdb whose `mdb.c` defines the layout below. A test fails when a different version is installed. */
export const LMDB_VERSION = '3.5.6';

/** Receives the place of a key, in the order of the file's pages. The bytes are valid only during the call. */
type OnKey = (bytes: Buffer, view: DataView, from: number, to: number) => void;

/** The receivers of keys, by the names of their tables. */
export type KeyReaders = ReadonlyMap<string, OnKey>;

/**
 * Finds damaged pages. lmdb maps its file into memory and follows the page numbers in the file without checks, so a damaged number
 * ends the process or leads to other records. Before lmdb opens a file, this function therefore reads the newest state from the
 * root to the last record, and checks what lmdb assumes:
 * - each page exists, has its own number, and is used once,
 * - each page contains its entries completely and in order,
 * - the counts of pages and entries are right.
 *
 * Checksums protect the contents of records. This function reads only the first page of a value of several pages. The function reads the
 * pages of each level of a tree in the order of the file, because reads of single pages take three times as long. A file of 1 GB in the
 * system's cache takes 0.2 s of CPU time.
 *
 * The layout is that of `MDB_page`, `MDB_node`, `MDB_db` and `MDB_meta` in the `mdb.c` of {@link LMDB_VERSION}, on a 64-bit
 * machine.
 * @param onPage called repeatedly with the number of pages read so far and the number of all pages
 * @param onKeys the functions that receive the keys of a table, by the table's name
 * @returns the damage; `undefined` without damage. An empty file is a new database.
 */
export function findPageDamage(
  path: string,
  onPage: (done: number, total: number) => void = () => {},
  onKeys: KeyReaders = new Map(),
): string | undefined {
  const file = openSync(path, 'r');
  try {
    const pages = new LmdbPages(file);
    if (pages.isEmpty) return undefined;
    const [first, second] = pages.readMetas();
    // Commits alternate between the two pages. So the pages' transaction numbers differ by one, unless there was no commit yet. A copy
    // without free pages has its state in the second page and no state in the first page.
    const gap = first.transaction - second.transaction;
    const isCopy = first.transaction === 0n && first.main.root === NO_ROOT && first.free.root === NO_ROOT;
    if (gap !== 1n && gap !== -1n && first.transaction + second.transaction > 1n && !isCopy)
      throw new Damage('its first two pages do not follow each other');
    new TreeWalk(pages, gap > 0n ? first : second, onPage, onKeys).check();
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  } finally {
    closeSync(file);
  }
}

const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const NODE_BYTES = 8;
const NODE_IS_BIG = 0x01;
const NODE_IS_TREE = 0x02;
const PAGES_MAX = 2 ** 28;
/** The largest depth. No real tree is so deep, because pages have dozens of entries. */
const DEPTH_MAX = 32;
/** The interval of progress reports, in pages. */
const TELL_PAGES = 1_000;

/** A value of several pages. */
interface BigValue {
  readonly count: number;
  readonly bytes: number;
}

class TreeWalk {
  /** For each page that is in use, 1 + the page's index in its level of its tree; otherwise 0. */
  readonly #used: Uint32Array;
  readonly #freePages: number[] = [];
  /** The offsets of the entries of the page that {@link #readNodes} has read last. */
  readonly #nodes: Uint32Array;
  #done = 0;
  #told = 0;

  constructor(
    readonly pages: LmdbPages,
    readonly meta: Meta,
    readonly onPage: (done: number, total: number) => void,
    readonly onKeys: KeyReaders,
  ) {
    if (meta.lastPage > PAGES_MAX) throw new Damage('its newest state is damaged');
    this.#used = new Uint32Array(meta.lastPage + 1);
    this.#nodes = new Uint32Array(pages.pageBytes / 2);
  }

  check(): void {
    this.#use(0, 1, 0);
    this.#use(1, 1, 0);
    this.#checkTree(this.meta.free, true);
    this.#checkTree(this.meta.main, false);
    for (const page of this.#freePages)
      if (this.#used[page] !== 0) throw new Damage(`page ${page} is in use and counts as free`);
  }

  #checkTree(tree: Tree, isFreeTree: boolean, onKey?: OnKey): void {
    const found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    if (tree.root !== NO_ROOT) {
      if (tree.depth === 0 || tree.depth > DEPTH_MAX) throw new Damage('the depth of a tree is damaged');
      this.#use(tree.root, 1, 0);
      let level = Uint32Array.of(tree.root);
      for (let depth = 1; depth < tree.depth; depth++) {
        found.branchPages += level.length;
        level = this.#childrenOf(level);
      }
      found.leafPages = level.length;
      Object.assign(found, this.#checkLeaves(level, isFreeTree, onKey));
    }
    for (const [what, count] of Object.entries(found))
      if (tree[what as keyof typeof found] !== count)
        throw new Damage(`it has ${count} ${what} where ${tree[what as keyof typeof found]} were counted`);
  }

  /** Reads a level of branches. @returns the pages of the next level, in the order of their keys */
  #childrenOf(branches: Uint32Array): Uint32Array<ArrayBuffer> {
    const children: number[][] = new Array(branches.length);
    this.#readLevel(branches, (page, index) => {
      if (kindOf(page) !== BRANCH) throw damaged(page);
      const count = this.#readNodes(page);
      children[index] = Array.from(this.#nodes.subarray(0, count), (node) => childOf(page, node));
    });
    const level = children.flat();
    // A damaged number may be too large for 32 bits, so the check comes before the conversion.
    for (let index = 0; index < level.length; index++) this.#use(level[index]!, 1, index);
    return Uint32Array.from(level);
  }

  #checkLeaves(
    leaves: Uint32Array,
    isFreeTree: boolean,
    onKey: OnKey | undefined,
  ): { entries: number; overflowPages: number } {
    const ends = new PageEnds(leaves.length, isFreeTree);
    const trees: { readonly name: string; readonly tree: Tree }[] = [];
    const bigValues = new Map<number, BigValue>();
    let entries = 0;
    this.#readLevel(leaves, (page, index) => {
      if (kindOf(page) !== LEAF) throw damaged(page);
      const { bytes, view } = page;
      const count = this.#readNodes(page);
      let previousAt = -1;
      let previousEnd = -1;
      for (let i = 0; i < count; i++) {
        const node = this.#nodes[i]!;
        const dataBytes = view.getUint32(node, true);
        const flags = view.getUint16(node + 4, true);
        const keyAt = node + NODE_BYTES;
        const keyEnd = keyAt + view.getUint16(node + 6, true);
        const dataEnd = keyEnd + (flags === NODE_IS_BIG ? HEADER_BYTES : dataBytes);
        if (dataEnd > page.end) throw damaged(page);
        if (isFreeTree && keyEnd - keyAt !== 8) throw damaged(page);
        if (i === 0) ends.noteFirst(index, view, keyAt, keyEnd);
        else if (!ends.isAscending(view, previousAt, previousEnd, view, keyAt, keyEnd))
          throw outOfOrder(page.number);
        previousAt = keyAt;
        previousEnd = keyEnd;
        onKey?.(bytes, view, keyAt, keyEnd);
        if (flags === NODE_IS_TREE) {
          if (dataBytes !== TREE_BYTES) throw damaged(page);
          // A zero ends the name.
          trees.push({ name: bytes.toString('utf8', keyAt, keyEnd - 1), tree: readTree(view, keyEnd) });
        } else if (flags === NODE_IS_BIG) {
          const pageCount = readInteger(view, keyEnd + 16);
          const number = readInteger(view, keyEnd);
          this.#use(number, pageCount, 0);
          bigValues.set(number, { count: pageCount, bytes: dataBytes });
        } else if (flags !== 0) throw damaged(page);
        else if (isFreeTree) this.#noteFree(bytes.subarray(keyEnd, dataEnd));
      }
      entries += count;
      if (count > 0) ends.noteLast(index, view, previousAt, previousEnd);
    });
    const unordered = ends.firstOutOfOrder();
    if (unordered !== undefined) throw outOfOrder(leaves[unordered]!);
    const overflowPages = this.#checkBigValues(bigValues, isFreeTree);
    for (const { name, tree } of trees) this.#checkTree(tree, false, this.onKeys.get(name));
    return { entries, overflowPages };
  }

  /** Checks values of several pages. Only the first page has a header. @returns the number of pages */
  #checkBigValues(values: ReadonlyMap<number, BigValue>, isFreeTree: boolean): number {
    let pageCount = 0;
    this.pages.readAll(Uint32Array.from(values.keys()).sort(), (page) => {
      const { number, view, at } = page;
      const { count, bytes } = values.get(number)!;
      const isWhole =
        kindOf(page) === OVERFLOW &&
        view.getUint32(at + 20, true) === count &&
        HEADER_BYTES + bytes <= count * this.pages.pageBytes;
      if (!isWhole) throw damaged(page);
      this.pages.requirePage(number + count - 1);
      pageCount += count;
      this.#tell(count);
    });
    if (isFreeTree)
      for (const [number, { bytes }] of values) this.#noteFree(this.pages.readValue(number, bytes));
    return pageCount;
  }

  /** Reads a list of free pages. The list is the count, followed by the page numbers; a negative entry is a length. */
  #noteFree(list: Buffer): void {
    const count = list.length < 8 ? -1 : Number(list.readBigInt64LE(0));
    // A list may have more room than its entries need, because lmdb reserves more.
    if (count < 0 || 8 * (count + 1) > list.length) throw new Damage('a list of free pages is damaged');
    for (let at = 8; at <= 8 * count; at += 8) {
      const page = list.readInt32LE(at + 4) * 2 ** 32 + list.readUInt32LE(at);
      if (Math.abs(page) >= this.#used.length)
        throw new Damage(`it has no page ${page}, which counts as free`);
      if (page > 0) this.#freePages.push(page);
    }
  }

  /** Reads the pages of a level in the order of the file, and calls `visit` with each page and its index in the level. */
  #readLevel(level: Uint32Array, visit: (page: Page, index: number) => void): void {
    this.pages.readAll(isAscending(level) ? level : level.slice().sort(), (page) => {
      visit(page, this.#used[page.number]! - 1);
      this.#tell(1);
    });
  }

  /** Reads the offsets of the entries of a branch or leaf into {@link #nodes}. @returns the number of entries */
  #readNodes(page: Page): number {
    const { view, at, end } = page;
    const lower = view.getUint16(at + 20, true);
    const upper = view.getUint16(at + 22, true);
    if (lower % 2 !== 0 || lower > upper || upper > end - at - HEADER_BYTES) throw damaged(page);
    const start = at + HEADER_BYTES;
    for (let i = 0; i < lower; i += 2) {
      const offset = view.getUint16(start + i, true);
      if (offset < upper || start + offset + NODE_BYTES > end) throw damaged(page);
      this.#nodes[i >> 1] = start + offset;
    }
    return lower >> 1;
  }

  #tell(count: number): void {
    this.#done += count;
    if (this.#done < this.#told + TELL_PAGES) return;
    this.#told = this.#done;
    this.onPage(this.#done, this.#used.length);
  }

  /** Marks pages as used. @param index the index of the first page in its level */
  #use(first: number, count: number, index: number): void {
    if (!(count > 0 && first + count <= this.#used.length)) throw new Damage(`it has no page ${first}`);
    for (let at = first; at < first + count; at++) {
      if (this.#used[at] !== 0) throw new Damage(`page ${at} is used twice`);
      this.#used[at] = index + 1;
    }
  }
}

/** Returns the page to which an entry of a branch points: 48 bits, as on a little-endian machine. */
function childOf(page: Page, node: number): number {
  const { view } = page;
  if (node + NODE_BYTES + view.getUint16(node + 6, true) > page.end) throw damaged(page);
  return view.getUint32(node, true) + view.getUint16(node + 4, true) * 2 ** 32;
}

function isAscending(level: Uint32Array): boolean {
  for (let i = 1; i < level.length; i++) if (level[i - 1]! > level[i]!) return false;
  return true;
}

function damaged({ number }: Page): Damage {
  return new Damage(`page ${number} is damaged`);
}

function outOfOrder(number: number): Damage {
  return new Damage(`the entries of page ${number} are out of order`);
}
