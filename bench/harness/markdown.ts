import { machineText } from '../../scripts/load/machine.js';
import { threeDigits } from '../../scripts/load/statistics.js';
import { boundText, isCost, type LineOutcome, peerBoundText, type RowOutcome } from './outcome.js';
import { anchorOf, profileMarkdown } from './profile.js';
import type { Results } from './results.js';

/** Returns the text of `bench/RESULTS.md`, which shows the results to readers. */
export function resultsMarkdown(results: Results): string {
  const machines = [...new Set(results.rows.map(({ machine }) => machineText(machine)))];
  const missed = results.rows.filter(({ reached }) => !reached).map(({ name }) => name);
  return [
    '# Bench',
    '',
    'Written by `npm run bench`; the same in `results.json`. Each row is measured on one machine in one run, which the table names: the ratios',
    'are what counts, absolute figures drift with the machine. Each variant runs in a fresh process, in turns, and each figure is',
    'the median of its rounds. Rates are per core: work done by the CPU time of all threads that did it, so that they hold',
    'on a shared machine too. Load runs are against the real service in a process of its own, over loopback; the client is',
    'another process and says how busy it was.',
    '',
    '    npm run bench                     everything; the table below says how long each row took',
    '    npm run bench -- fan-out          one row (more names for more rows)',
    '    npm run bench -- --smoke          the least of each: it shows that they run, and writes nothing',
    '    npm run bench -- --check          exit status 1 when a row does not reach what it must',
    '    npm run bench -- --profile        CPU profiles of the hottest loads, summed up at the end of this page',
    '',
    ...machines.flatMap((text, i) => [`Machine ${i + 1}: ${text}`, '']),
    missed.length === 0 ? 'Every row reaches what it must.' : `**Missed: ${missed.join(', ')}.**`,
    '',
    '| Row | Reached | Commit | Measured | Took | Machine |',
    '|---|---|---|---|---|--:|',
    ...results.rows.map(
      (row) =>
        `| [${row.name}](#${row.name}) | ${row.reached ? 'yes' : '**no**'} | ${row.commit} | ` +
        `${row.measuredAt.slice(0, 16).replace('T', ' ')} | ${row.seconds.toFixed(0)} s | ${machines.indexOf(machineText(row.machine)) + 1} |`,
    ),
    '',
    ...lossesMarkdown(results),
    ...results.rows.flatMap((row) => [...rowMarkdown(row), '']),
    ...profileMarkdown(results.profiles),
  ].join('\n');
}

/** Returns a row as a table. The console shows the same table. */
export function rowMarkdown(row: RowOutcome): string[] {
  return [
    `## ${row.name}`,
    '',
    `${row.title}. ${row.method}`,
    '',
    `    npm run bench -- ${row.name}`,
    '',
    '| | Ours | Against | Ratio | Must reach | Reached |',
    '|---|--:|---|--:|--:|---|',
    ...row.lines.flatMap(lineMarkdown),
    '',
    ...(row.limit === undefined ? [] : [`**What keeps it there.** ${row.limit}`, '']),
    ...(row.missing ?? []).map((peer) => `Not on this machine: ${peer}.\n`),
    ...row.differingHashes.map((name) => `**Not the same bytes: ${name}.**\n`),
    ...hashesText(row.hashes),
    '<details><summary>Rounds</summary>',
    '',
    ...Object.entries(row.rounds).flatMap(([variant, figures]) =>
      Object.entries(figures).map(
        ([figure, values]) => `- ${variant}, ${figure}: ${values.map(threeDigits).join(', ')}`,
      ),
    ),
    '',
    '</details>',
    '',
  ];
}

/**
 * Returns the comparisons in which a peer is better than the service and no bound allows it. The worst comparison is first. A
 * comparison whose bound is reached is in the table of its row only.
 */
function lossesMarkdown({ rows, profiles }: Results): string[] {
  const worse = rows.flatMap(({ name, lines }) =>
    lines
      .filter(({ of }) => of === undefined)
      .flatMap((line) =>
        line.peers.flatMap((peer) => {
          if (peer.bound && 'within' in peer.bound) return [];
          const share = isCost(line) ? 1 / peer.ratio : peer.ratio;
          return share < 1 ? [{ name, line, peer, share }] : [];
        }),
      ),
  );
  // A reached bound of the line itself allows what a peer without a bound does better.
  const losses = worse
    .filter(({ line, peer }) => !(peer.reached ?? (peer.bound === undefined && line.bound && line.reached)))
    .sort((a, b) => a.share - b.share);
  const within = worse.length - losses.length;
  const profileOf = (row: string) => {
    const profile = profiles.find(({ load }) => load === row);
    return profile === undefined ? 'no' : `[${profile.commit}](#${anchorOf(profile)})`;
  };
  return [
    '## Where we lose',
    '',
    'The comparisons in which the other does better and no bound allows it, the worst first. A bare loop or a bare library does less than the',
    'service: beside it the bound says how much of it must be left. ' +
      (within === 1
        ? 'One more comparison is within its bound, in the table of its row.'
        : `${within} more comparisons are within their bounds, in the tables of their rows.`),
    '',
    '| Row | | Against | Ours / theirs | Missed | Profile |',
    '|---|---|---|--:|--:|---|',
    ...losses.map(
      ({ name, line, peer }) =>
        `| [${name}](#${name}) | ${line.name}, ${line.unit} | ${peer.name} | ${threeDigits(peer.ratio)} | ` +
        `${peerBoundText(peer)} | ${profileOf(name)} |`,
    ),
    '',
  ];
}

function lineMarkdown(line: LineOutcome): string[] {
  const shown = line.shown.map(({ name, unit, value }) => `${name} ${threeDigits(value)} ${unit}`).join(', ');
  const name = shown === '' ? line.name : `${line.name} (${shown})`;
  const ours = `${threeDigits(line.ours)} ${line.unit}`;
  const own = line.bound || line.peers.length === 0;
  return [
    ...(own
      ? [`| ${name} | ${ours} | | | ${line.bound ? boundText(line.bound) : ''} | ${verdict(line.reached)} |`]
      : []),
    ...line.peers.map((peer, i) => {
      const first = i === 0 && !own;
      return (
        `| ${first ? name : ''} | ${first ? ours : ''} | ${peer.name}: ${threeDigits(peer.value)} | ${threeDigits(peer.ratio)} | ` +
        `${peerBoundText(peer)} | ${verdict(peer.reached)} |`
      );
    }),
  ];
}

function verdict(reached: boolean | undefined): string {
  return reached === undefined ? '' : reached ? 'yes' : '**no**';
}

function hashesText(hashes: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(hashes);
  if (names.length === 0) return [];
  return [
    'The same bytes, by SHA-256:',
    ...names.map((name) => `- ${name}: ${hashes[name]!.slice(0, 16)}…`),
    '',
  ];
}
