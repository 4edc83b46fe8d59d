import type { AssetName } from '../../model/asset_map.js';
import { DiskLog, type DiskLogOptions, type LogEnd } from '../disk/disk_log.js';
import type { AcceptedInput } from '../records/accepted_input.js';
import type { Holding } from '../records/holding.js';
import type { LatestInput } from '../records/latest_input.js';
import type { CommitCompanion } from './commit_companion.js';
import { type AssetState, changedInputEntry, type EntryState, type InputState } from './entry_state.js';
import { CLOSED_ENTRY, closedMinuteEntry, holdingEntry, type MarkEntry, markEntry } from './log_entries.js';

/**
 * The largest number of entries that wait while the disk fails: about 30 MB with five inputs each. The state changes nevertheless, and
 * the log gets a gap. During a gap, the aggregate is unknown.
 */
const WAITING_MAX = 10_000;

/** The default for the free space below which nothing is written. */
const RESERVE_BYTES = 16 * 1024 * 1024;

export interface LoggedStateOptions
  extends Pick<DiskLogOptions, 'folder' | 'clock' | 'seal' | 'logger' | 'reserveBytes' | 'freeBytes'> {
  readonly companion?: CommitCompanion | undefined;
}

/** The states of an asset that the log lacks, because too many entries waited. */
interface Dropped {
  readonly first: Holding;
  count: number;
}

/**
 * The state of a data folder, with each change in the log. Of an input and of a mark, a commit has only the newest. Everything else of a
 * commit was appended before them, so a commit that is torn never has a mark without what it covers.
 */
export class LoggedState {
  readonly log: DiskLog;
  readonly #state: EntryState;
  readonly #companion: CommitCompanion | undefined;
  readonly #inputs = new Set<InputState>();
  readonly #inputOf = new WeakMap<LatestInput, InputState>();
  readonly #marks = new Map<string, MarkEntry>();
  /** True until the last commit has taken the entry that nothing is missing. */
  #isClosing = false;
  readonly #dropped = new Map<AssetState, Dropped>();

  constructor(state: EntryState, { companion, ...options }: LoggedStateOptions, end: LogEnd) {
    this.#state = state;
    this.#companion = companion;
    this.log = new DiskLog(
      {
        reserveBytes: RESERVE_BYTES,
        ...options,
        collect: () => this.#collect(),
        hasMore: () => this.#inputs.size > 0 || this.#marks.size > 0 || this.#isClosing,
        beforeCommit: async () => companion?.write(),
        onCommit: { begun() {}, settled: (isOnDisk) => isOnDisk && this.#committed() },
      },
      end,
    );
  }

  /** The number of entries that are not on disk yet. */
  get waiting(): number {
    return this.log.waiting + this.#inputs.size + this.#marks.size;
  }

  put(asset: AssetName, holding: Holding): void {
    this.#state.put(asset, holding);
    const one = this.#state.of(asset);
    const dropped = this.#dropped.get(one);
    if (dropped !== undefined) dropped.count++;
    else if (this.log.waiting >= WAITING_MAX) this.#dropped.set(one, { first: holding, count: 1 });
    else this.log.append(holdingEntry(asset, holding));
  }

  closeMinute(asset: AssetName): void {
    const one = this.#state.of(asset);
    if (one.newest?.minute === undefined) return;
    this.#state.closeMinute(one);
    this.log.append(closedMinuteEntry(asset));
  }

  /** Notes a changed input. The next commit writes the input that the pair has then. */
  putInput(asset: AssetName, key: Buffer, accepted: LatestInput): void {
    let input = this.#inputOf.get(accepted);
    if (input === undefined) {
      input = this.#state.inputOf(asset, key.toString('hex'), accepted);
      this.#inputOf.set(accepted, input);
    }
    this.#changed(input);
  }

  /** Notes an input that does not change. */
  recordInput(asset: AssetName, key: Buffer, accepted: AcceptedInput): void {
    this.#changed(this.#state.inputOf(asset, key.toString('hex'), accepted));
  }

  readonly putMark = (kind: string, number: number, value: string | undefined): void => {
    const mark = { kind, number, value };
    this.#state.putMark(mark);
    this.#marks.set(`${number} ${kind}`, mark);
    this.log.changed();
  };

  /** Writes everything that waits, notes in the log that nothing is missing, and stops. @throws Error when the last commit failed */
  async close(): Promise<void> {
    try {
      this.#isClosing = true;
      await this.log.close();
    } finally {
      await this.#companion?.close();
    }
  }

  #changed(input: InputState): void {
    this.#inputs.add(input);
    this.log.changed();
  }

  *#collect(): Iterable<string> {
    for (const input of this.#inputs) yield changedInputEntry(input);
    this.#inputs.clear();
    for (const mark of this.#marks.values()) yield markEntry(mark);
    this.#marks.clear();
    if (this.#isClosing) yield CLOSED_ENTRY;
    this.#isClosing = false;
  }

  #committed(): void {
    this.#companion?.committed();
    for (const [{ asset, newest }, { first, count }] of this.#dropped) {
      if (count > 1)
        this.log.append(holdingEntry(asset, { state: 'gap', timeNs: first.timeNs, minute: undefined }));
      if (newest !== undefined) this.log.append(holdingEntry(asset, newest));
    }
    this.#dropped.clear();
  }
}
