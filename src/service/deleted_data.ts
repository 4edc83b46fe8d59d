import type { Config } from '../config/config.js';
import type { Path, Problem } from '../config/document.js';
import { type FileKind, listHourFiles, pastFolderOf } from '../log/past/hour_paths.js';
import { CandleFiles } from '../log/store/candle_files.js';
import { candlesFolderOf } from '../log/store/kept_candles.js';
import { NS_PER_MS } from '../model/time.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The times of the oldest file of a kind; infinite without a file. */
interface Oldest {
  readonly fromMs: number;
  readonly endMs: number;
}

/** Finds retention times that would delete much of what the data folder has. A service deletes a little in every hour. */
export function deletionWarnings({ storage }: Config, nowMs: number): Problem[] {
  const { dir, past, candleRetentionNs } = storage;
  const hours = listHourFiles(pastFolderOf(dir));
  const oldestOf = (wanted: FileKind): Oldest => {
    const first = Math.min(...hours.flatMap(({ hour, kind }) => (kind === wanted ? [hour] : [])));
    return { fromMs: first * HOUR_MS, endMs: (first + 1) * HOUR_MS };
  };
  const candles = new CandleFiles(candlesFolderOf(dir), () => {});
  const months = candles.folders().flatMap((folder) => candles.monthsIn(folder).slice(0, 1));
  const oldestMonth: Oldest = {
    fromMs: Math.min(...months.map(({ firstDay }) => firstDay)) * DAY_MS,
    endMs: Math.min(...months.map(({ endDay }) => endDay)) * DAY_MS,
  };
  const kinds: readonly (readonly [Path, string, Oldest, bigint])[] = [
    [['storage', 'past', 'signatures'], 'signed prices', oldestOf('jsonl'), past.signaturesNs],
    [['storage', 'past', 'proofs'], "publishers' inputs of signed prices", oldestOf('inputs'), past.proofsNs],
    [['storage', 'candle_retention'], 'candles', oldestMonth, candleRetentionNs],
  ];
  return kinds.flatMap(([path, what, { fromMs, endMs }, keptNs]): Problem[] => {
    const keptMs = Number(keptNs / NS_PER_MS);
    if (endMs >= nowMs - 1.1 * keptMs - DAY_MS) return [];
    const [from, to] = [fromMs, nowMs - keptMs].map((ms) => new Date(ms).toISOString().slice(0, 10));
    const message = `the next start deletes the ${what} from ${from} to ${to}, which the data folder has; back it up first, or keep them longer`;
    return [{ path, message }];
  });
}
