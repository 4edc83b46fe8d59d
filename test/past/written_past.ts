import { DiskLog, type LastSegment } from '../../src/log/disk_log.js';
import { listSegments, logFolderOf, SegmentReader } from '../../src/log/segment.js';
import type { AssetName } from '../../src/model/asset_map.js';
import type { SignedAggregate } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';
import { pastFolderOf } from '../../src/past/hour_paths.js';
import { HourWriter, type HourWriterOptions } from '../../src/past/hour_writer.js';
import type { PastEntry } from '../../src/past/past_entry.js';
import { PastLines, type PastReaderOptions } from '../../src/past/past_lines.js';
import { FakeClock } from '../clock/fake_clock.js';
import { DAY_NS, HOUR_START_NS, textOf } from './sample_past.js';

export interface WrittenOptions extends Partial<HourWriterOptions> {
  readonly segmentBytesMax?: number;
  /** False when sealed segments stay in the log. */
  readonly isMoving?: boolean;
}

/** A log whose sealed segments are moved into the files of hours, as in the service. */
export class WrittenPast {
  readonly writer: HourWriter;
  readonly log: DiskLog;
  readonly #clock: { timeNs?: bigint };

  private constructor(dir: string, writer: HourWriter, last: LastSegment, options: WrittenOptions) {
    const { clock = new FakeClock(HOUR_START_NS), segmentBytesMax } = options;
    this.writer = writer;
    this.#clock = clock as { timeNs?: bigint };
    const folder = logFolderOf(dir);
    const size = segmentBytesMax === undefined ? {} : { segmentBytesMax };
    const seal = async ({ segment }: LastSegment) => {
      if (options.isMoving === false) throw new Error('segments stay in the log');
      await sealOne(folder, segment, writer);
    };
    const unsealed = listSegments(folder).map((segment) => ({ segment, id: '' }));
    this.log = new DiskLog({ folder, clock, seal, ...size }, { last, unsealed });
  }

  static async open(dir: string, options: WrittenOptions = {}): Promise<WrittenPast> {
    const { clock = new FakeClock(HOUR_START_NS) } = options;
    const writer = await HourWriter.open({
      folder: pastFolderOf(dir),
      proofsNs: 7n * DAY_NS,
      signaturesNs: 90n * DAY_NS,
      hasRepeated: false,
      isConfigured: () => true,
      clock,
      ...options,
    });
    const last = await lastSegment(logFolderOf(dir), writer.last);
    return new WrittenPast(dir, writer, last, { ...options, clock });
  }

  /** Writes entries, with a commit after every few. The clock follows the aggregates. */
  async write(entries: Iterable<SignedAggregate | string>, perCommit = 20): Promise<void> {
    let waiting = 0;
    for (const entry of entries) {
      if (typeof entry !== 'string') this.#clock.timeNs = entry.signedAtNs;
      this.log.append(typeof entry === 'string' ? entry : textOf(entry));
      if (++waiting % perCommit === 0) await this.log.durable();
    }
    await this.log.durable();
  }

  /** Resolves when all sealed segments are in the files of their hours. */
  async sealed(): Promise<void> {
    this.log.beginSealing();
    while (this.log.segmentsToSeal > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  async close(): Promise<void> {
    await this.log.close();
  }
}

async function sealOne(folder: string, number: number, writer: HourWriter): Promise<void> {
  const segment = await SegmentReader.open(folder, number);
  if (segment === undefined) return;
  try {
    await writer.seal(segment);
  } finally {
    await segment.close();
  }
}

/** Returns the last segment of a log, or the last one of the past if the log is empty. */
async function lastSegment(folder: string, known: LastSegment): Promise<LastSegment> {
  const number = listSegments(folder).at(-1);
  const reader = number === undefined ? undefined : await SegmentReader.open(folder, number);
  if (reader === undefined) return known;
  await reader.refresh(() => {});
  await reader.close();
  const id = reader.head?.id ?? '';
  return number! < known.segment ? { segment: known.segment, id } : { segment: number!, id };
}

/** Moves all segments into the files of their hours, as the next start does. */
export async function sealAll(dir: string, options: WrittenOptions = {}): Promise<void> {
  const past = await WrittenPast.open(dir, options);
  await past.sealed();
  await past.close();
}

export function readerOf(dir: string, over: Partial<PastReaderOptions> = {}): PastLines {
  const onDamage = () => {};
  return new PastLines({
    folder: pastFolderOf(dir),
    logFolder: logFolderOf(dir),
    hasRepeated: false,
    onDamage,
    ...over,
  });
}

/** Returns all entries of an asset in a range. */
export async function linesOf(
  dir: string,
  name: AssetName,
  { fromNs = 0n, toNs = 2n ** 62n, withInputs = true } = {},
): Promise<PastEntry[]> {
  const reader = readerOf(dir);
  try {
    const all: PastEntry[] = [];
    for await (const block of reader.blocks(name, { fromNs, toNs }, withInputs)) all.push(...block.entries());
    return all;
  } finally {
    await reader.close();
  }
}

export function textOfEntry(entry: PastEntry): string {
  return entry.kind === 'priced' ? entry.line : entry.kind;
}

export function timeAfterHour(seconds: number): TimeNs {
  return (HOUR_START_NS + BigInt(seconds) * 1_000_000_000n) as TimeNs;
}
