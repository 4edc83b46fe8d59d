import { DiskLog, type LastSegment, type LogEnd } from '../../../src/log/disk/disk_log.js';
import { listSegments, logFolderOf, SegmentReader } from '../../../src/log/disk/segment.js';
import { pastFolderOf } from '../../../src/log/past/hour_paths.js';
import { HourWriter, type HourWriterOptions } from '../../../src/log/past/hour_writer.js';
import { type PastEntry, stateText } from '../../../src/log/past/past_entry.js';
import { PastReader, type PastReaderOptions } from '../../../src/log/past/past_reader.js';
import { type Holding, holdingText } from '../../../src/log/records/holding.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import { FakeClock } from '../../clock/fake_clock.js';
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

  private constructor(dir: string, writer: HourWriter, end: LogEnd, options: WrittenOptions) {
    const { clock = new FakeClock(HOUR_START_NS), segmentBytesMax } = options;
    this.writer = writer;
    this.#clock = clock as { timeNs?: bigint };
    const folder = logFolderOf(dir);
    const size = segmentBytesMax === undefined ? {} : { segmentBytesMax };
    const seal = async ({ segment }: LastSegment, signal: AbortSignal) => {
      if (options.isMoving === false) throw new Error('segments stay in the log');
      await sealOne(folder, segment, writer, signal);
    };
    this.log = new DiskLog({ folder, clock, seal, ...size }, end);
  }

  static async open(dir: string, options: WrittenOptions = {}): Promise<WrittenPast> {
    const { clock = new FakeClock(HOUR_START_NS) } = options;
    const writer = await openWriter(dir, { clock, ...options });
    const end = await logEnd(logFolderOf(dir), writer.last);
    return new WrittenPast(dir, writer, end, { ...options, clock });
  }

  /** Adds the next state of an asset, as the store does. */
  append(name: AssetName, holding: Holding): void {
    const { state, timeNs } = holding;
    this.log.append(state === 'priced' ? holdingText(holding) : stateText(state, name, timeNs));
  }

  /** Writes entries, with a commit after every few. The clock follows the aggregates. */
  async write(entries: Iterable<SignedAggregate | string>, perCommit = 20): Promise<void> {
    let waiting = 0;
    for (const entry of entries) {
      if (typeof entry !== 'string') this.#clock.timeNs = entry.signedAtNs;
      // A record of the log, as the store writes it.
      this.log.append(
        typeof entry === 'string' ? entry : `{"at":"${entry.signedAtNs}","aggregate":${textOf(entry)}}`,
      );
      if (++waiting % perCommit === 0) await this.log.durable();
    }
    await this.log.durable();
  }

  /** Resolves when all sealed segments are in the files of their hours. */
  async sealed(): Promise<void> {
    // The segments of the last process are sealed when this one has a segment.
    this.log.append('{"nothing":true}');
    await this.log.durable();
    this.log.beginSealing();
    while (this.log.segmentsToSeal > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  async close(): Promise<void> {
    await this.log.close();
  }
}

export function openWriter(
  dir: string,
  options: Partial<HourWriterOptions> & Pick<HourWriterOptions, 'clock'>,
): Promise<HourWriter> {
  return HourWriter.open({
    folder: pastFolderOf(dir),
    proofsNs: 7n * DAY_NS,
    signaturesNs: 90n * DAY_NS,
    hasRepeated: false,
    isConfigured: () => true,
    ...options,
  });
}

async function sealOne(
  folder: string,
  number: number,
  writer: HourWriter,
  signal: AbortSignal,
): Promise<void> {
  const segment = await SegmentReader.open(folder, number);
  if (segment === undefined) return;
  try {
    await writer.seal(segment, signal);
  } finally {
    await segment.close();
  }
}

/** Finds how the last process left a log. Numbers continue after those of the past. */
async function logEnd(folder: string, known: LastSegment): Promise<LogEnd> {
  const unsealed: LastSegment[] = [];
  for (const number of listSegments(folder)) {
    const reader = (await SegmentReader.open(folder, number))!;
    await reader.refresh(() => {});
    await reader.close();
    unsealed.push({ segment: number, id: reader.head?.id ?? '' });
  }
  const { segment, id } = unsealed.at(-1) ?? known;
  return { last: { segment: Math.max(segment, known.segment), id }, unsealed };
}

/** Moves all segments into the files of their hours, as the next start does. */
export async function sealAll(dir: string, options: WrittenOptions = {}): Promise<void> {
  const past = await WrittenPast.open(dir, options);
  await past.sealed();
  await past.close();
}

export function readerOf(dir: string, over: Partial<PastReaderOptions> = {}): PastReader {
  const onDamage = () => {};
  return new PastReader({
    dir,
    isKept: true,
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
