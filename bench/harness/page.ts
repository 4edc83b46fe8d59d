import { machineText } from '../../scripts/load/machine.js';
import { threeDigits } from '../../scripts/load/statistics.js';
import type { LineOutcome, RowOutcome } from './outcome.js';
import type { MeasuredRow } from './results.js';
import type { Bound } from './row.js';

/** Returns the text of `bench/RESULTS.md`, which shows the results to readers. */
export function resultsPage(rows: readonly MeasuredRow[]): string {
  const machines = [...new Set(rows.map(({ machine }) => machineText(machine)))];
  const missed = rows.filter(({ reached }) => !reached).map(({ name }) => name);
  return [
    '# Bench',
    '',
    'Written by `npm run bench`; `results.json` has the same and each round. [README.md](README.md) says how each row is measured. Ratios are what',
    'counts: absolute figures change with the machine.',
    '',
    ...machines.flatMap((text, i) => [`Machine ${i + 1}: ${text}`, '']),
    missed.length === 0 ? 'Every row reaches its bounds.' : `**Missed: ${missed.join(', ')}.**`,
    '',
    '| Row | Reached | Commit | Measured | Took | Machine |',
    '|---|---|---|---|---|--:|',
    ...rows.map(
      (row) =>
        `| [${row.name}](#${row.name}) | ${verdict(row.reached)} | ${row.commit} | ` +
        `${row.measuredAt.slice(0, 16).replace('T', ' ')} | ${row.seconds.toFixed(0)} s | ${machines.indexOf(machineText(row.machine)) + 1} |`,
    ),
    '',
    ...rows.flatMap(rowPage),
  ].join('\n');
}

/** Returns a row as a table. The console shows the same table. */
export function rowPage(row: RowOutcome): string[] {
  return [
    `## ${row.name}`,
    '',
    `${row.title}. ${row.method}`,
    '',
    '| | Ours | Against | Ratio | Bound | Reached |',
    '|---|--:|---|--:|--:|---|',
    ...row.lines.flatMap(lineRows),
    '',
    ...(row.limit === undefined ? [] : [`**What keeps it there.** ${row.limit}`, '']),
    ...(row.missing ?? []).map((peer) => `Not on this machine: ${peer}.\n`),
    ...row.differingHashes.map((name) => `**Not the same bytes: ${name}.**\n`),
  ];
}

function lineRows(line: LineOutcome): string[] {
  const shown = line.shown.map(({ name, unit, value }) => `${name} ${threeDigits(value)} ${unit}`).join(', ');
  const name = shown === '' ? line.name : `${line.name} (${shown})`;
  return [
    `| ${name} | ${threeDigits(line.ours)} ${line.unit} | | | ${boundText(line.bound)} | ${verdict(line.reached)} |`,
    ...line.peers.map(
      (peer) =>
        `| | | ${peer.name}: ${threeDigits(peer.value)} | ${threeDigits(peer.ratio)} | ${boundText(peer.bound)} | ${verdict(peer.reached)} |`,
    ),
  ];
}

function boundText(bound: Bound | undefined): string {
  if (bound === undefined) return '';
  return 'atLeast' in bound ? `≥ ${bound.atLeast}` : `≤ ${bound.atMost}`;
}

function verdict(reached: boolean | undefined): string {
  return reached === undefined ? '' : reached ? 'yes' : '**no**';
}
