import { type BatchEntry, formatBatchEntry, parseBatchEntry } from '../../tlog/batch_entry.js';
import { GrowingTree } from '../../tlog/growing_tree.js';
import { isEqual } from '../../tlog/log_text.js';
import { nodeSha256 } from '../../tlog/node_sha256.js';
import {
  bundleOf,
  readBundle,
  TILE_WIDTH,
  type Tile,
  tilePath,
  tilesBetween,
  writeBundle,
} from '../../tlog/tiles.js';
import type { TreeHead } from '../../tlog/tree_proofs.js';
import { ExpiredRecords } from './expired_records.js';
import {
  type FileToWrite,
  makeLedgerFolders,
  readTileSync,
  removePartials,
  writeDurably,
} from './ledger_folder.js';
import { isRootOf, rootInTurns } from './ledger_hash.js';
import { type JournalFrame, LedgerJournal, readJournal } from './ledger_journal.js';
import { PRICE_FORM, type RecordForm } from './record_form.js';
import { readHead, writeHead } from './sealed_head.js';
import { batchFiles, type UnsealedBatch } from './unsealed_batch.js';
import { type HashedRecord, WaitingRecords } from './waiting_records.js';

export interface LedgerOptions {
  readonly publicFolder: string;
  readonly stateFolder: string;
  readonly origin: string;
  /** The form of the records. Default: signed prices. */
  readonly form?: RecordForm;
  /** The time for which the public files keep the records of a batch; `undefined` for ever. */
  readonly recordsRetentionNs?: bigint;
  /** Called for a mismatch: the entry of another node does not fit, or two prices have the same place. */
  readonly onMismatch: (reason: string) => void;
  /** Called when expired records cannot be removed. The log continues. */
  readonly onKept?: (reason: string) => void;
}

/**
 * Requests the records of a batch from other nodes, because this node recorded different prices. Resolves with `undefined` when no node has
 * the records.
 * @param reason the difference between the batch and the prices that this node recorded
 */
export type AskRecords = (batch: bigint, reason: string) => Promise<readonly Uint8Array[] | undefined>;

/** Thrown when the log of the folder cannot be continued. */
export class LedgerStopped extends Error {
  override readonly name = 'LedgerStopped';
}

/**
 * The public log on the disk of this node. Records of signed prices wait in memory and in the journal until the entry of their batch is
 * applied. {@link seal} writes the applied batches into the public files.
 */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #journal: LedgerJournal;
  readonly #waiting: WaitingRecords;
  readonly #tree: GrowingTree;
  readonly #expired: ExpiredRecords | undefined;
  /** The entries of the sealed tree's last bundle, and all later entries. */
  #entries: Uint8Array[];
  #sealed: TreeHead;
  #last: BatchEntry | undefined;
  #unsealed: UnsealedBatch[] = [];
  #toJournal: JournalFrame[] = [];
  /** True if too many records waited when the last record arrived. */
  #isFull = false;
  #prepared: { readonly entry: Uint8Array; readonly records: readonly HashedRecord[] } | undefined;
  #work: Promise<unknown> = Promise.resolve();

  private constructor(options: LedgerOptions, sealed: TreeHead) {
    const { publicFolder, stateFolder, recordsRetentionNs } = options;
    this.#options = options;
    this.#waiting = new WaitingRecords(options.form ?? PRICE_FORM);
    this.#expired =
      recordsRetentionNs === undefined ? undefined : new ExpiredRecords(publicFolder, recordsRetentionNs);
    this.#sealed = sealed;
    this.#tree = new GrowingTree(sealed.size, (tile) => readOwnTile(publicFolder, tile), nodeSha256);
    if (!isEqual(this.#tree.root(), sealed.root))
      throw new LedgerStopped(`the tiles in ${publicFolder} do not give the root in ${stateFolder}`);
    const { width } = sealed.size === 0n ? { width: 0 } : bundleOf(sealed.size - 1n, sealed.size);
    this.#entries =
      sealed.size === 0n
        ? []
        : readBundle(readOwnTile(publicFolder, bundleOf(sealed.size - 1n, sealed.size)), width);
    const last = this.#entries.at(-1);
    this.#last = last && parseBatchEntry(last);
    if (width === TILE_WIDTH) this.#entries = [];
    this.#journal = new LedgerJournal(stateFolder);
  }

  /**
   * Opens the log of a data folder, and reads the journal.
   * @throws LedgerStopped when the folder has the log of another origin, or its files are inconsistent
   */
  static async open(options: LedgerOptions): Promise<Ledger> {
    const { publicFolder, stateFolder, origin } = options;
    makeLedgerFolders(publicFolder, stateFolder);
    const sealed = readHead(stateFolder, 'sealed');
    if (sealed !== undefined && sealed.origin !== origin)
      throw new LedgerStopped(`${publicFolder} has the log ${sealed.origin}, not ${origin}`);
    const frames = readJournal(stateFolder);
    const ledger = new Ledger(options, sealed ?? { size: 0n, root: new GrowingTree().root() });
    await ledger.#recoverJournal(frames);
    return ledger;
  }

  get origin(): string {
    return this.#options.origin;
  }

  /** The tree of all applied batches. */
  get head(): TreeHead {
    return { size: this.#tree.size, root: this.#tree.root() };
  }

  /** The tree in the public files. */
  get sealed(): TreeHead {
    return this.#sealed;
  }

  /** The last applied batch. */
  get last(): BatchEntry | undefined {
    return this.#last;
  }

  get recordsWaiting(): number {
    return this.#waiting.count;
  }

  /** Adds the record of a signed price. A record of an applied batch has no effect. */
  add(record: Uint8Array): void {
    const timeNs = this.#waiting.timeOf(record);
    if (timeNs < (this.#last?.toNs ?? 0n)) return;
    const outcome = this.#waiting.add(record, timeNs);
    if (outcome === 'other') this.#options.onMismatch(`two signed prices have one place, at ${timeNs} ns`);
    if (outcome === 'full' && !this.#isFull)
      this.#options.onMismatch('too many signed prices wait for their batch');
    this.#isFull = outcome === 'full';
    if (outcome === 'added') this.#write({ kind: 'record', bytes: record });
  }

  /** Makes the entry of the next batch. All prices before `toNs` must have been added. */
  nextEntry(epoch: bigint, fromNs: bigint, toNs: bigint): Promise<Uint8Array> {
    return this.#inOrder(async () => {
      const records = this.#waiting.between(fromNs, toNs);
      const root = await rootInTurns(records.map(({ leaf }) => leaf));
      const { size: batch } = this.#tree;
      const entry = formatBatchEntry({ epoch, batch, fromNs, toNs, records: BigInt(records.length), root });
      this.#prepared = { entry, records };
      return entry;
    });
  }

  /**
   * Applies the entry of a batch. Entries must come in the order of their batches. An entry that was already applied has no effect.
   * @returns false when the entry does not follow the last entry
   */
  apply(entry: Uint8Array, ask?: AskRecords): Promise<boolean> {
    return this.#inOrder(() => this.#applyBatch(entry, ask));
  }

  /** Resolves when all records and entries so far are on disk. */
  async flush(): Promise<void> {
    this.#writeNow();
    await this.#journal.flush();
  }

  /** Writes the applied batches into the public files. Resolves with the new tree of the public files. */
  seal(): Promise<TreeHead> {
    return this.#inOrder(() => this.#seal());
  }

  async close(): Promise<void> {
    await this.#inOrder(() => this.flush());
    await this.#journal.close();
  }

  /** Runs tasks one after another, because a task may wait for the disk or for other work. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work, work);
    this.#work = done.catch(() => {});
    return done;
  }

  async #recoverJournal(frames: readonly JournalFrame[]): Promise<void> {
    for (const { kind, bytes } of frames) {
      if (kind === 'record') this.add(bytes);
      else await this.#applyBatch(bytes);
    }
    this.#writeNow();
    await this.#journal.removeOlder();
  }

  async #applyBatch(bytes: Uint8Array, ask?: AskRecords): Promise<boolean> {
    const entry = parseBatchEntry(bytes);
    if (entry.batch < this.#tree.size) return true;
    const fromNs = this.#last?.toNs ?? entry.fromNs;
    if (entry.batch !== this.#tree.size || entry.fromNs !== fromNs) return false;
    const records = await this.#recordsOf(bytes, entry, ask);
    this.#prepared = undefined;
    this.#waiting.removeBefore(entry.toNs);
    this.#tree.append(bytes);
    this.#entries.push(bytes);
    this.#last = entry;
    this.#unsealed.push({ entry: bytes, records });
    this.#write({ kind: 'entry', bytes });
    return true;
  }

  /** Returns the records of a batch, from this node or another node, if the records match the root. */
  async #recordsOf(
    bytes: Uint8Array,
    entry: BatchEntry,
    ask: AskRecords = async (_batch, reason) => void this.#options.onMismatch(reason),
  ): Promise<readonly HashedRecord[] | undefined> {
    if (this.#prepared !== undefined && isEqual(this.#prepared.entry, bytes)) return this.#prepared.records;
    const own = this.#waiting.between(entry.fromNs, entry.toNs);
    if (await isRootOf(own, entry)) return own;
    const reason = `batch ${entry.batch} has other prices than this node recorded: ${entry.records} records, here ${own.length}`;
    const asked = (await ask(entry.batch, reason))?.map((record) => this.#waiting.hash(record));
    if (asked === undefined || !(await isRootOf(asked, entry))) return undefined;
    for (const { record } of asked) this.#write({ kind: 'record', bytes: record });
    return asked;
  }

  async #seal(): Promise<TreeHead> {
    const { publicFolder, stateFolder, origin } = this.#options;
    const older = this.#sealed.size;
    const head = this.head;
    if (head.size === older) return this.#sealed;
    const batches = this.#unsealed;
    const tiles = tilesBetween(older, head.size);
    const files = [...batchFiles(batches, older), ...tiles.map((tile) => this.#fileOf(tile, older))];
    await writeDurably(publicFolder, files);
    await writeHead(stateFolder, 'sealed', { origin, ...head });
    this.#sealed = head;
    this.#unsealed = [];
    this.#tree.forget();
    this.#entries = this.#entries.slice(this.#entries.length - Number(head.size % BigInt(TILE_WIDTH)));
    await this.#journal.restart(this.#waiting.all().map((bytes) => ({ kind: 'record', bytes })));
    for (const tile of tiles) if (tile.width === TILE_WIDTH) await removePartials(publicFolder, tile);
    await this.#removeExpired(batches.length);
    return head;
  }

  /** Removes expired records. The log continues after a failure, because the records only use space on the disk. */
  async #removeExpired(added: number): Promise<void> {
    try {
      await this.#expired?.remove(this.#sealed.size, this.#last!.toNs, added);
    } catch (error) {
      this.#options.onKept?.((error as Error).message);
    }
  }

  #fileOf(tile: ReturnType<typeof tilesBetween>[number], older: bigint): FileToWrite {
    const { level, index, width } = tile;
    const path = tilePath(tile);
    if (level !== 'entries') return { path, bytes: this.#tree.tileBytes({ level, index, width }) };
    const start = Number(index - older / BigInt(TILE_WIDTH)) * TILE_WIDTH;
    return { path, bytes: writeBundle(this.#entries.slice(start, start + width)) };
  }

  /** Collects the frames of this turn of the event loop into one write. */
  #write(frame: JournalFrame): void {
    this.#toJournal.push(frame);
    if (this.#toJournal.length === 1)
      queueMicrotask(() => {
        try {
          this.#writeNow();
        } catch {
          // The next flush reports the fault of the disk, before anything counts as durable.
        }
      });
  }

  #writeNow(): void {
    const frames = this.#toJournal;
    this.#toJournal = [];
    if (frames.length > 0) this.#journal.append(frames);
  }
}

/** @throws LedgerStopped when the tile is missing */
function readOwnTile(publicFolder: string, tile: Tile): Uint8Array {
  try {
    return readTileSync(publicFolder, tile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new LedgerStopped(`${publicFolder} lacks ${tilePath(tile)}, which the log had sealed`);
  }
}
