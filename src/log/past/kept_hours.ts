import { rm, stat } from 'node:fs/promises';
import { type HourList, type ListedHour, writeHourList } from './hour_list.js';
import { FILE_KINDS, type FileKind, hourPath, listHourFiles, NS_PER_HOUR } from './hour_paths.js';

const SECONDS_PER_HOUR = 3_600;
/** The shortest time for which lines and inputs are kept: the prices of recent seconds need 600 s. */
const KEPT_NS_MIN = 660_000_000_000n;

/** The state of the past's files after {@link removeOldFiles}. */
export interface HourFigures {
  readonly bytes: number;
  readonly files: number;
  /** The UNIX second at which the first hour with a file begins; `undefined` without a file. */
  readonly oldestS: number | undefined;
  /** The files that are missing, shorter than the list says or not in the list, in words. */
  readonly damage: readonly string[];
}

export interface KeptTimes {
  readonly folder: string;
  /** The time for which aggregates are kept together with their inputs. */
  readonly proofsNs: bigint;
  /** The time for which aggregates are kept. */
  readonly signaturesNs: bigint;
  /** The size above which the oldest hours are removed; `undefined` without a limit. */
  readonly bytesMax?: number | undefined;
}

/** Removes the files whose retention time has ended, after the list says so. Compares the other files with the list. */
export async function removeOldFiles(
  { folder, proofsNs, signaturesNs, bytesMax }: KeptTimes,
  before: HourList,
  nowNs: bigint,
): Promise<{ readonly list: HourList; readonly figures: HourFigures }> {
  const isYounger = (hour: number, keptNs: bigint) => BigInt(hour + 1) * NS_PER_HOUR + keptNs >= nowNs;
  const firstHour = firstHourWithin(before.hours, bytesMax);
  const isKept = (hour: number, keptNs: bigint) =>
    isYounger(hour, KEPT_NS_MIN) || (hour >= firstHour && isYounger(hour, keptNs));
  const hours = before.hours
    .filter(({ hour }) => isKept(hour, signaturesNs))
    .map((one) => (isKept(one.hour, proofsNs) ? one : { ...one, inputsBytes: 0 }));
  const isSame =
    hours.length === before.hours.length &&
    hours.every((one, i) => sizesOf(one) === sizesOf(before.hours[i]!));
  const list = isSame ? before : { ...before, hours };
  if (!isSame) await writeHourList(folder, list);
  const found = new Set<string>();
  for (const { hour, kind } of listHourFiles(folder)) {
    const path = hourPath(folder, hour, kind);
    if (isKept(hour, kind === 'inputs' ? proofsNs : signaturesNs)) found.add(path);
    else await rm(path, { force: true });
  }
  return { list, figures: await compareHours(folder, hours, found) };
}

/** Returns the oldest hour that has room together with all later hours. */
function firstHourWithin(hours: readonly ListedHour[], bytesMax = Number.POSITIVE_INFINITY): number {
  let sum = 0;
  const full = hours.findLast(({ bytes, inputsBytes }) => {
    sum += bytes + inputsBytes;
    return sum > bytesMax;
  });
  return full === undefined ? 0 : full.hour + 1;
}

async function compareHours(
  folder: string,
  hours: readonly ListedHour[],
  found: Set<string>,
): Promise<HourFigures> {
  const damage: string[] = [];
  let bytes = 0;
  const files = found.size;
  for (const listed of hours)
    for (const kind of FILE_KINDS) {
      const path = hourPath(folder, listed.hour, kind);
      const least = leastOf(listed, kind);
      const size = found.delete(path) ? (await stat(path)).size : undefined;
      bytes += size ?? 0;
      if (least > 0 && size === undefined) damage.push(`${path} is missing`);
      else if (size !== undefined && size < least)
        damage.push(`${path} has ${size} bytes instead of ${least}`);
    }
  // The writer may just begin the newest hour.
  const newest = hours.at(-1)?.hour ?? -1;
  for (const { hour, kind } of listHourFiles(folder))
    if (hour < newest && found.has(hourPath(folder, hour, kind)))
      damage.push(`${hourPath(folder, hour, kind)} is not in the list of hours`);
  const first = hours[0];
  return { bytes, files, oldestS: first && first.hour * SECONDS_PER_HOUR, damage };
}

function leastOf({ bytes, inputsBytes }: ListedHour, kind: FileKind): number {
  return kind === 'jsonl' ? bytes : inputsBytes;
}

function sizesOf(listed: ListedHour): string {
  return FILE_KINDS.map((kind) => leastOf(listed, kind)).join();
}
