import { median } from '../../load/statistics.js';
import { SIGNALS, type Signal } from './silences.js';

/** The longest silences of a step in each round, in milliseconds. */
export type Silences = Readonly<Record<Signal, readonly number[]>>;

/** Returns the table of silences for the page about clusters: the median and the worst of each step, in seconds. */
export function silenceTable(steps: ReadonlyMap<string, Silences>): string {
  const heads = [
    'Fault; median · worst',
    'Rounds',
    'Streams silent',
    'REST silent',
    'Durable acknowledgements silent',
  ];
  const rows = [...steps].map(([name, found]) => [
    name,
    String(found.stream.length),
    ...SIGNALS.map(
      (signal) => `${seconds(median(found[signal]))} · ${seconds(Math.max(...found[signal]))} s`,
    ),
  ]);
  return [
    `| ${heads.join(' | ')} |`,
    `|---|${'--:|'.repeat(heads.length - 1)}`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n');
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
