import { rm, stat } from 'node:fs/promises';
import { TIERS } from './chunk_group.js';
import { listHours, NS_PER_HOUR, tierPath } from './past_folder.js';

const SECONDS_PER_HOUR = 3_600;

/** The state of the past's files after {@link removeOldFiles}. */
export interface FileFigures {
  readonly bytes: number;
  readonly files: number;
  /** The UNIX second at which the first hour with a file begins; `undefined` without a file. */
  readonly oldestS: number | undefined;
}

export interface Retention {
  readonly folder: string;
  readonly proofsNs: bigint;
  readonly signaturesNs: bigint;
}

/** Removes the files whose retention time has ended. */
export async function removeOldFiles(
  { folder, proofsNs, signaturesNs }: Retention,
  nowNs: bigint,
): Promise<FileFigures> {
  const keptNs = { signatures: signaturesNs, inputs: proofsNs };
  const hours = listHours(folder);
  let bytes = 0;
  let files = 0;
  let oldestS: number | undefined;
  // An hour loses its inputs first, because inputs without signatures are damage.
  for (const tier of TIERS.toReversed())
    for (const hour of hours[tier]) {
      const path = tierPath(folder, hour, tier);
      if (BigInt(hour + 1) * NS_PER_HOUR + keptNs[tier] < nowNs) {
        await rm(path, { force: true });
        continue;
      }
      bytes += (await stat(path)).size;
      files++;
      oldestS = Math.min(hour * SECONDS_PER_HOUR, oldestS ?? Number.POSITIVE_INFINITY);
    }
  return { bytes, files, oldestS };
}
