import { readKnownSize, writeKnownSize } from '../../publiclog/ledger/known_size.js';
import { LedgerStopped } from '../../publiclog/ledger/ledger.js';
import { parseBatchEntry } from '../../tlog/batch_entry.js';
import { parseCheckpoint } from '../../tlog/tree_checkpoint.js';
import type { TreeHead } from '../../tlog/tree_proofs.js';
import type { PublicLogKind } from '../log/log_batch.js';
import { catchUp, type OtherLogFiles, recordsFrom } from './other_log_files.js';
import type { PublicLogOptions } from './public_log_options.js';

/** The delay after the other nodes could not provide the missing batches. */
const RETRY_MS = 5_000;

type FollowedLogOptions = Pick<PublicLogOptions, 'ledger' | 'stateFolder' | 'publisher' | 'nowMs' | 'logger'>;

/** The parts of the public log that arrive from the log of prices, and their effects on this node's files. */
export class FollowedLog {
  readonly #options: FollowedLogOptions;
  readonly #attempt: (work: () => Promise<void>) => Promise<void>;
  #others: OtherLogFiles | undefined;
  #settled: Promise<void> = Promise.resolve();
  #endNs = 0n;
  /** The known number of batches in the log, including batches that this node lacks. */
  #size = 0n;
  /** The tree that may be signed next; `undefined` once it is on disk. */
  #head: TreeHead | undefined;
  #publishedAtMs: number | undefined;
  #failure: string | undefined;
  #retryMs = 0;
  /** The number of batches that the received parts have named. Some of these parts may still wait. */
  #received = 0n;
  /** The number of batches on disk, of which this node lacked some. */
  #noted: bigint;
  #isCopying = false;
  #isClosed = false;
  /** Functions to call when a copy from another node begins. */
  readonly #onCopying = new Set<() => void>();

  /** @param attempt runs the work for each part and handles its errors */
  constructor(options: FollowedLogOptions, attempt: (work: () => Promise<void>) => Promise<void>) {
    this.#options = options;
    this.#attempt = attempt;
    this.#noted = readKnownSize(options.stateFolder);
    this.#size = this.#noted;
  }

  /** Resolves when all parts so far have taken effect. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  /** The end of the last batch that was received. */
  get endNs(): bigint {
    return this.#endNs;
  }

  /** The time of the last published checkpoint, by the monotonic clock. */
  get publishedAtMs(): number | undefined {
    return this.#publishedAtMs;
  }

  /** The reason why this node lacks batches; `undefined` when it has all of them. */
  get failure(): string | undefined {
    return this.#options.ledger.head.size < this.#size ? this.#failure : undefined;
  }

  joinOthers(files: OtherLogFiles): void {
    this.#others = files;
  }

  /** Receives the next part. @throws TlogError for an unreadable batch */
  receive(kind: PublicLogKind, bytes: Uint8Array): void {
    if (kind === 'batch') {
      const { batch, toNs } = parseBatchEntry(bytes);
      this.#endNs = toNs;
      if (batch >= this.#received) this.#received = batch + 1n;
    }
    this.#settled = this.#settled.then(() => this.#attempt(() => this.#take(kind, bytes)));
  }

  /** @throws Error while this node lacks batches; it must then add none */
  async requireComplete(): Promise<void> {
    const { ledger } = this.#options;
    if (ledger.head.size >= this.#size) return;
    // Other nodes try again when they receive the next part. A leader receives no parts, so it must try here.
    const copied = this.#settled.then(() => this.#catchUp(this.#size));
    this.#settled = copied.catch(() => {});
    await copied;
    if (ledger.head.size < this.#size) throw new Error(this.#failure ?? this.#lack);
  }

  /**
   * Resolves when the parts so far have taken effect or wait for batches from another node. The number of batches is then on disk, because
   * the log of prices does not deliver these parts again.
   */
  async write(): Promise<void> {
    const { ledger, stateFolder } = this.#options;
    const received = this.#received;
    await this.#settledOrCopying();
    const size = received > this.#size ? received : this.#size;
    if (ledger.head.size >= size || this.#noted >= size) return;
    await writeKnownSize(stateFolder, size);
    this.#noted = size;
  }

  /** Ends a copy from another node before its next file. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#settled;
  }

  /** Restricts signatures to the tree that the log of prices names, and to its continuations, once the files have this tree. */
  async commitHead(): Promise<void> {
    const { ledger, publisher } = this.#options;
    const head = this.#head;
    if (head === undefined || this.#isCopying || head.size > ledger.head.size) return;
    await publisher.commit(head, await ledger.seal());
    if (this.#head === head) this.#head = undefined;
  }

  async #take(kind: PublicLogKind, bytes: Uint8Array): Promise<void> {
    const { ledger, publisher, nowMs } = this.#options;
    if (kind === 'batch') return this.#takeBatch(bytes);
    const text = Buffer.from(bytes).toString();
    if (kind === 'head') {
      this.#head = parseCheckpoint(text);
      await this.#catchUp(this.#head.size);
      await this.commitHead();
    } else if (await publisher.show(text, ledger.sealed)) this.#publishedAtMs = nowMs();
  }

  async #takeBatch(bytes: Uint8Array): Promise<void> {
    const { ledger } = this.#options;
    const { batch } = parseBatchEntry(bytes);
    await this.#catchUp(batch);
    if (ledger.head.size < batch) return;
    if (!(await ledger.apply(bytes, (...question) => this.#askRecords(...question))))
      throw new LedgerStopped(`batch ${batch} does not follow batch ${batch - 1n} of this node`);
    if (batch >= this.#size) this.#size = batch + 1n;
  }

  async #askRecords(batch: bigint, reason: string): Promise<readonly Uint8Array[] | undefined> {
    const found = this.#others && (await recordsFrom(this.#others)(batch, reason).catch(() => undefined));
    if (found === undefined) this.#options.logger.error(`the public log: ${reason}`);
    return found;
  }

  /** Copies missing batches from other nodes. @throws LedgerStopped without other nodes */
  async #catchUp(size: bigint): Promise<void> {
    const { ledger, nowMs, logger } = this.#options;
    if (size > this.#size) this.#size = size;
    if (ledger.head.size >= size) return;
    if (this.#others === undefined) throw new LedgerStopped(this.#lack);
    if (nowMs() < this.#retryMs) return;
    logger.info(`the public log: ${this.#lack}, and copies them from another node`);
    try {
      this.#isCopying = true;
      for (const begins of this.#onCopying) begins();
      await catchUp(ledger, size, { read: (path) => this.#read(path) });
      this.#failure = undefined;
    } catch (error) {
      this.#failure = `the public log waits: ${this.#lack}: ${(error as Error).message}; without another node, start it with a backup of one`;
      logger.error(this.#failure);
      this.#retryMs = nowMs() + RETRY_MS;
    } finally {
      this.#isCopying = false;
    }
  }

  async #read(path: string): Promise<Uint8Array | undefined> {
    if (this.#isClosed) throw new Error('this node ends');
    return this.#others!.read(path);
  }

  async #settledOrCopying(): Promise<void> {
    if (this.#isCopying) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        this.#onCopying.delete(end);
        resolve();
      };
      this.#onCopying.add(end);
      void this.#settled.then(end, end);
    });
  }

  get #lack(): string {
    return `this node has ${this.#options.ledger.head.size} of ${this.#size} batches`;
  }
}
