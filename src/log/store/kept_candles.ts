import { join } from 'node:path';
import type { AssetName } from '../../model/asset_map.js';
import type { CandleValues, NumberedCandle } from '../records/candle.js';
import type { MinuteCandle } from '../records/holding.js';
import { CandleFiles } from './candle_files.js';
import { CandleReader, type CandlesInMemory } from './candle_reader.js';
import { candleFolderName } from './candle_rows.js';
import { CandleWriter, type KeptMonths } from './candle_writer.js';
import { systemReason } from './data_folder.js';

/** The delay before closed minutes are written. Most assets close a minute at almost the same time. */
const WRITE_DELAY_MS = 50;
const RETRY_MS = 1_000;
/** The largest number of closed minutes that wait while the disk fails: about 50 MB. Further minutes are lost. */
const WAITING_MAX = 300_000;

const NO_MINUTES: ReadonlyMap<number, CandleValues> = new Map();

export function candlesFolderOf(dataFolder: string): string {
  return join(dataFolder, 'candles');
}

export interface KeptCandlesOptions {
  /** The data folder. */
  readonly dir: string;
  readonly running: (asset: AssetName) => MinuteCandle | undefined;
  /** Called with damage that a read finds, in one sentence. */
  readonly onDamage: (reason: string) => void;
}

/** The candles of the thread that makes them. Closed minutes stay in memory until the files have them. */
export class KeptCandles {
  readonly reader: CandleReader;
  readonly #writer: CandleWriter;
  /** The closed minutes that are not in the files, by asset. */
  readonly #closed = new Map<
    string,
    { readonly asset: AssetName; readonly minutes: Map<number, CandleValues> }
  >();
  #waiting = 0;
  #work: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #failure: string | undefined;
  #kept: KeptMonths = { bytes: 0, oldestDay: undefined };
  #isClosed = false;

  constructor({ dir, running, onDamage }: KeptCandlesOptions) {
    const folder = candlesFolderOf(dir);
    const files = new CandleFiles(folder, onDamage);
    this.reader = new CandleReader(files, (asset): CandlesInMemory => {
      const closed = this.#closed.get(candleFolderName(asset))?.minutes ?? NO_MINUTES;
      return { closed, running: running(asset) };
    });
    this.#writer = new CandleWriter(folder, files);
  }

  /** The first day of the oldest month with candles at the last {@link removeBefore}; `undefined` without candles. */
  get oldestDay(): number | undefined {
    return this.#kept.oldestDay;
  }

  /** The room on the disk that the files took at the last {@link removeBefore}. */
  get bytes(): number {
    return this.#kept.bytes;
  }

  /** Returns the reason why closed minutes cannot be written; `undefined` while writing works. */
  failure(): string | undefined {
    return this.#failure;
  }

  /** Notes a minute that has closed. It is written soon. */
  close(asset: AssetName, { minute, open, high, low, close }: MinuteCandle): void {
    const key = candleFolderName(asset);
    let known = this.#closed.get(key);
    if (known === undefined) {
      known = { asset: { symbol: asset.symbol, signatureType: asset.signatureType }, minutes: new Map() };
      this.#closed.set(key, known);
    }
    if (!known.minutes.has(minute)) {
      if (this.#waiting >= WAITING_MAX) return;
      this.#waiting++;
    }
    known.minutes.set(minute, { open, high, low, close });
    this.#writeLater(WRITE_DELAY_MS);
  }

  /** Writes closed minutes of another store. They replace existing minutes. */
  add(asset: AssetName, minutes: readonly NumberedCandle[]): Promise<void> {
    return this.#run(async () => {
      // An own minute that closed before, perhaps incomplete, must not replace one of the other store.
      await this.#writeClosed();
      await this.#writer.write(asset, minutes);
      this.reader.changed();
    });
  }

  /** Writes all closed minutes. Readers on all threads find them afterwards. @throws Error when the disk fails */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#run(() => this.#writeClosed());
  }

  /** Writes and flushes all closed minutes. @throws Error when the disk fails, or after the signal */
  sync(signal?: AbortSignal): Promise<void> {
    return this.#run(async () => {
      await this.#writeClosed();
      await this.#writer.sync(signal);
    });
  }

  /** Removes the files of months that end before a day. */
  removeBefore(day: number): Promise<void> {
    return this.#run(async () => {
      this.#kept = await this.#writer.removeBefore(day);
      this.reader.changed();
    });
  }

  /** Writes what is left. Minutes that cannot be written are in the log, and the next start writes them. */
  async end(): Promise<void> {
    this.#isClosed = true;
    await this.flush().catch(() => {});
    clearTimeout(this.#timer);
  }

  #writeLater(ms: number): void {
    // Another process may have the folder now.
    if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.flush().catch(() => {}), ms).unref();
  }

  /** Runs one piece of work after the other. */
  #run(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }

  async #writeClosed(): Promise<void> {
    try {
      for (const [key, { asset, minutes }] of this.#closed) {
        const taken = [...minutes].sort(([a], [b]) => a - b);
        await this.#writer.write(
          asset,
          taken.map(([number, values]) => ({ number, ...values })),
        );
        // A minute may have changed since.
        for (const [number, values] of taken)
          if (minutes.get(number) === values && minutes.delete(number)) this.#waiting--;
        if (minutes.size === 0) this.#closed.delete(key);
      }
      this.#failure = undefined;
    } catch (error) {
      this.#failure = `the candles cannot be written: ${systemReason(error)}`;
      if (!this.#isClosed)
        this.#timer ??= setTimeout(() => void this.flush().catch(() => {}), RETRY_MS).unref();
      throw error;
    }
  }
}
