import { TOKEN } from '../load/config.js';
import { clientFrame, type FrameSocket, openFrameSocket } from '../load/frame_socket.js';
import { readMetrics } from '../load/metrics.js';
import { publishFirstPrices } from '../load/priced_service.js';
import { type ServerProcess, startService } from '../load/server_process.js';
import { median, percentile } from '../load/statistics.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Check, count, exactly, measured, NONE, type Scale, timing } from './check.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { until, writeTortureConfig } from './service.js';

/** The check with readers that stall. The frames are large and quickly fill the kernel's buffers. */
export const stalled: Check = {
  name: 'stalled',
  title: 'readers that stop reading, beside as many that read',
  run: measure,
};

const SIZES: Readonly<Record<Scale, Sizes>> = {
  full: { readers: 1_000, resuming: 20, rounds: 3, windows: 12, tickMs: 50, slowConsumer: '10s' },
  smoke: { readers: 4, resuming: 1, rounds: 1, windows: 1, tickMs: 10, slowConsumer: '4s' },
};

interface Sizes {
  /** The number of readers. The same number of other readers stall. */
  readonly readers: number;
  /** The number of stalled readers that start to read again before the limit. */
  readonly resuming: number;
  readonly rounds: number;
  /** The number of windows with stalled readers in a round. A round has the same number of windows without stalled readers. */
  readonly windows: number;
  readonly slowConsumer: string;
  /** The interval of the stalled readers' channel. */
  readonly tickMs: number;
}

/** The number of assets. With this number, stalled readers get frames of 45 KB. */
const ASSETS = 1_000;
const UPDATE_INTERVAL_MS = 50;
/** The longest time for reading the backlog, in addition to the tick. */
const BACKLOG_READ_MS = 10;
/** The largest limit. The limit is at least 1.1, and increases with the measured noise up to this value. */
const NOISE_MAX = 1.25;
/**
 * The largest memory for each stalled reader. The value is three times the largest part of a frame that did not fit into the
 * kernel's buffers.
 */
const READER_BYTES_MAX = 150_000;
/** The time limit for the close frames. The kernel's buffers contain megabytes before each close frame. */
const CLOSE_FRAMES_MS_MAX = 120_000;
/** The length of a window. With short windows, other processes disturb only some windows and not the median. */
const WINDOW_MS = 500;

async function measure(scale: Scale) {
  const { readers, resuming, rounds, windows, slowConsumer, tickMs } = SIZES[scale];
  const { file } = writeTortureConfig(
    { assets: ASSETS },
    // All stalled readers have one token and subscribe to all assets at once.
    { slow_consumer: slowConsumer, subscription_changes_per_second: 1_000_000_000 },
  );
  const service = await startService(file);
  const updates = new Updates('evm');
  const all = Array.from({ length: ASSETS }, (_, asset) => asset);
  await publishFirstPrices(service.port, ASSETS, updates);
  const publisher = await AckedPublisher.open({
    port: service.port,
    publisher: 0,
    assets: [0],
    ack: 'true',
    updates,
  });
  let delaysMs: number[] = [];
  let sentMs = 0;
  const healthy = await openStreams({
    port: service.port,
    query: 'channel=real_time',
    count: readers,
    assetsOf: () => [0],
    onFrame: () => delaysMs.push(performance.now() - sentMs),
  });
  const send = () => {
    publisher.send();
    sentMs = performance.now();
  };
  const stop = keepSending([{ send }], UPDATE_INTERVAL_MS);
  const p99OfWindows = async () => {
    const p99s: number[] = [];
    for (let i = 0; i < windows; i++) {
      delaysMs = [];
      await pause(WINDOW_MS);
      p99s.push(percentile(delaysMs, 99));
    }
    return median(p99s);
  };

  await p99OfWindows();
  const without: number[] = [];
  const beside: number[] = [];
  const freshMs: number[] = [];
  const grownBytes: number[] = [];
  const closeSeconds: number[] = [];
  let closedSlow = 0;
  let wrongEnds = 0;
  for (let round = 0; round < rounds; round++) {
    without.push(await p99OfWindows());
    const bytesBefore = service.anonymousBytes();
    const stall = await StalledReaders.open(service, readers, all, tickMs);
    const stalledMs = performance.now();
    // On a busy machine, the service may close the first readers before the last reader lags. The check then continues with the other
    // readers.
    await until(
      'all of them lag',
      async () => (await stall.allLag()) || (await slowConsumersClosed(service)) > closedSlow,
    );
    beside.push(await p99OfWindows());
    grownBytes.push(service.anonymousBytes() - bytesBefore);
    const resumedMs = await stall.resume(resuming);
    freshMs.push(...resumedMs);
    closedSlow += readers - resumedMs.filter(Number.isFinite).length;
    await until('the others are closed', async () => (await slowConsumersClosed(service)) >= closedSlow);
    closeSeconds.push((performance.now() - stalledMs) / 1000);
    wrongEnds += await stall.wrongEnds(resuming);
  }
  const closed = await slowConsumersClosed(service);
  stop();
  const healthyClosed = healthy.closed;
  healthy.close();
  await service.stop();
  const ratio = median(beside) / median(without);
  const noise = Math.max(...without) / Math.min(...without);
  return [
    measured(`healthy p99 without them, ${readers} readers`, median(without), 'ms'),
    measured(`  with ${readers} stalled beside them`, median(beside), 'ms'),
    count('  noise: slowest / fastest round without them', noise),
    timing('  with / without', ratio, '', { atMost: Math.min(NOISE_MAX, Math.max(1.1, noise)) }),
    // With few readers, the figure mostly shows the growth of other memory.
    timing('memory of the service for a stalled reader', Math.max(...grownBytes) / readers / 1000, 'KB', {
      atMost: READER_BYTES_MAX / 1000,
    }),
    timing(`resumed: a value of now, p50, ticks of ${tickMs} ms`, median(freshMs), 'ms', {
      atMost: tickMs + BACKLOG_READ_MS,
    }),
    count('closed as too slow', closed, exactly(closedSlow)),
    count('  other ends than 1013, or none', wrongEnds, NONE),
    measured('  after the stall began', median(closeSeconds), 's'),
    count('healthy readers closed', healthyClosed, NONE),
  ];
}

async function slowConsumersClosed(service: ServerProcess): Promise<number> {
  return (await readMetrics(service)).get('tickseal_stream_slow_consumers_closed_total')!;
}

async function skippedFrames(service: ServerProcess): Promise<number> {
  return (await readMetrics(service)).get('tickseal_stream_frames_skipped_total')!;
}

/** Readers that stop reading before their first frame. */
class StalledReaders {
  readonly #service: ServerProcess;
  readonly #tickMs: number;
  readonly #sockets: FrameSocket[] = [];
  /** The close codes by connection. */
  readonly #ends = new Map<number, number | undefined>();
  readonly #onFrame: (((payload: Buffer) => void) | undefined)[] = [];
  readonly #onEnd: ((() => void) | undefined)[] = [];

  static async open(
    service: ServerProcess,
    count: number,
    assets: readonly number[],
    tickMs: number,
  ): Promise<StalledReaders> {
    const readers = new StalledReaders(service, tickMs);
    await Promise.all(Array.from({ length: count }, (_, i) => readers.#open(i, assets)));
    return readers;
  }

  private constructor(service: ServerProcess, tickMs: number) {
    this.#service = service;
    this.#tickMs = tickMs;
  }

  async #open(i: number, assets: readonly number[]): Promise<void> {
    const socket = await openFrameSocket({
      port: this.#service.port,
      path: `/ws?channel=${this.#tickMs}ms`,
      token: TOKEN,
      onFrame: (payload) => this.#onFrame[i]?.(payload),
      onClose: (code) => {
        this.#ends.set(i, code);
        this.#onEnd[i]?.();
      },
    });
    this.#sockets[i] = socket;
    socket.pause();
    socket.write(clientFrame(JSON.stringify({ type: 'subscribe', assets })));
  }

  /** Returns whether all readers lag. Each tick then skips a frame for every reader. */
  async allLag(): Promise<boolean> {
    const before = await skippedFrames(this.#service);
    const startMs = performance.now();
    await pause(10 * this.#tickMs);
    const skipped = (await skippedFrames(this.#service)) - before;
    const ticks = Math.floor((performance.now() - startMs) / this.#tickMs) - 1;
    return skipped >= this.#sockets.length * ticks;
  }

  /**
   * Resumes the first readers, one after the other.
   * @returns for each reader the time, in ms, until the reader received a frame that was made after the restart; infinity without such a
   * frame
   */
  async resume(count: number): Promise<number[]> {
    const delaysMs: number[] = [];
    for (let i = 0; i < count; i++) {
      delaysMs.push(await this.#resumeOne(i));
      this.#sockets[i]!.close();
    }
    return delaysMs;
  }

  #resumeOne(i: number): Promise<number> {
    return new Promise((resolve) => {
      const resumedMs = performance.now();
      const resumedNs = BigInt(Date.now()) * 1_000_000n;
      this.#onFrame[i] = (payload) => {
        const [, ts] = /"ts":(\d+)/.exec(payload.toString('latin1', 0, 100)) ?? [];
        if (ts === undefined || BigInt(ts) < resumedNs) return;
        this.#onFrame[i] = undefined;
        resolve(performance.now() - resumedMs);
      };
      this.#onEnd[i] = () => resolve(Number.POSITIVE_INFINITY);
      this.#sockets[i]!.resume();
    });
  }

  /**
   * Makes the other readers read their backlog.
   * @returns the number of readers that did not end with the right close frame
   */
  async wrongEnds(resumed: number): Promise<number> {
    const others = this.#sockets.length - resumed;
    for (const socket of this.#sockets.slice(resumed)) socket.resume();
    const right = () => [...this.#ends].filter(([i, code]) => i >= resumed && code === 1013).length;
    // If the wait fails, the caller still counts the missing close frames.
    await until('every close frame', () => right() >= others, CLOSE_FRAMES_MS_MAX).catch(() => {});
    for (const socket of this.#sockets) socket.close();
    return others - right();
  }
}
