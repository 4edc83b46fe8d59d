import { machineText } from '../../scripts/load/machine.js';
import { threeDigits } from '../../scripts/load/statistics.js';
import type { LineOutcome, RowOutcome } from './outcome.js';
import { type MeasuredRow, nodeOf, type Results } from './results.js';
import type { Bound } from './row.js';

/** The difference of a ratio on another version of Node from which the page shows it. */
const SHOWN_DIFFERENCE = 0.1;

/** Returns the text of `bench/RESULTS.md`, which shows the results to readers. */
export function resultsPage({ rows, olderNode }: Results): string {
  const machines = [...new Set(rows.map(({ machine }) => machineText(machine)))];
  const missed = rows.filter(({ reached }) => !reached).map(({ name }) => name);
  return [
    '# Bench',
    '',
    'Written by `npm run bench`; `results.json` has the same and each round. [README.md](README.md) says how each row is measured. Ratios are what',
    'counts: absolute figures change with the machine. A ratio on an older Node is shown where it differs by more than 10 %.',
    '',
    ...machines.flatMap((text, i) => [`Machine ${i + 1}: ${text}`, '']),
    missed.length === 0 ? 'Every row reaches its bounds.' : `**Missed: ${missed.join(', ')}.**`,
    '',
    '| Row | Reached | Node | Commit | Measured | Took | Machine |',
    '|---|---|--:|---|---|---|--:|',
    ...rows.map(
      (row) =>
        `| [${row.name}](#${row.name}) | ${verdict(row.reached)} | ${nodeOf(row)} | ${row.commit} | ` +
        `${row.measuredAt.slice(0, 16).replace('T', ' ')} | ${row.seconds.toFixed(0)} s | ${machines.indexOf(machineText(row.machine)) + 1} |`,
    ),
    '',
    ...rows.flatMap((row) =>
      rowPage(
        row,
        olderNode.find((one) => one.name === row.name),
      ),
    ),
  ].join('\n');
}

/**
 * Returns a row as a table. The console shows the same table.
 * @param older the row on an older version of Node
 */
export function rowPage(row: RowOutcome, older?: MeasuredRow): string[] {
  return [
    `## ${row.name}`,
    '',
    `${row.title}. ${row.method}`,
    '',
    `| | Ours | Against | Ratio | Bound | Reached |${older === undefined ? '' : ` Ratio on Node ${nodeOf(older)} |`}`,
    `|---|--:|---|--:|--:|---|${older === undefined ? '' : '--:|'}`,
    ...row.lines.flatMap((line) => lineRows(line, older)),
    '',
    ...(row.limit === undefined ? [] : [`**What keeps it there.** ${row.limit}`, '']),
    ...(row.missing ?? []).map((peer) => `Not on this machine: ${peer}.\n`),
    ...row.differingHashes.map((name) => `**Not the same bytes: ${name}.**\n`),
  ];
}

function lineRows(line: LineOutcome, older: MeasuredRow | undefined): string[] {
  const shown = line.shown.map(({ name, unit, value }) => `${name} ${threeDigits(value)} ${unit}`).join(', ');
  const name = shown === '' ? line.name : `${line.name} (${shown})`;
  const before = older?.lines.find((one) => one.name === line.name);
  return [
    `| ${name} | ${threeDigits(line.ours)} ${line.unit} | | | ${boundText(line.bound)} | ${verdict(line.reached)} |`,
    ...line.peers.map((peer) => {
      const olderRatio = before?.peers.find((one) => one.name === peer.name)?.ratio;
      return (
        `| | | ${peer.name}: ${threeDigits(peer.value)} | ${threeDigits(peer.ratio)} | ${boundText(peer.bound)} | ${verdict(peer.reached)} |` +
        (olderRatio !== undefined && differs(olderRatio, peer.ratio) ? ` ${threeDigits(olderRatio)} |` : '')
      );
    }),
  ];
}

function differs(older: number, now: number): boolean {
  return Math.abs(older / now - 1) > SHOWN_DIFFERENCE;
}

function boundText(bound: Bound | undefined): string {
  if (bound === undefined) return '';
  return 'atLeast' in bound ? `≥ ${bound.atLeast}` : `≤ ${bound.atMost}`;
}

function verdict(reached: boolean | undefined): string {
  return reached === undefined ? '' : reached ? 'yes' : '**no**';
}
