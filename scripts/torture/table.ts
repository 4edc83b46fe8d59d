import { type Machine, machineText } from '../load/machine.js';
import { sum, threeDigits } from '../load/statistics.js';
import { type Bound, type Finding, isReached, type Scale } from './check.js';

/** The result of a check. */
export interface Outcome {
  readonly check: string;
  readonly title: string;
  readonly findings: readonly Finding[];
  /** The reason for a result without figures: the check was skipped or threw an error. */
  readonly remark?: string;
  readonly failed: boolean;
  readonly seconds: number;
}

/** The result of a whole run, and where the run took place. */
export interface WholeRun {
  readonly outcomes: readonly Outcome[];
  readonly commit: string;
  readonly machine: Machine;
  /** The time of the start in ISO 8601. */
  readonly startedAt: string;
}

/** Returns the figures of all checks as a text table. */
export function outcomesTable(outcomes: readonly Outcome[], scale: Scale): string {
  const rows = outcomes.flatMap(({ check, findings, remark }) => [
    ...(remark === undefined ? [] : [[check, remark, '', '', '']]),
    ...findings.map((finding) => [
      check,
      finding.figure,
      valueText(finding),
      boundText(finding.mustBe),
      verdict(finding, scale),
    ]),
  ]);
  const table = [['check', 'figure', 'measured', 'must be', 'reached'], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const lineOf = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ');
  return table.map((row) => lineOf(row).trimEnd()).join('\n');
}

/** Returns whether all checks hold, as a sentence. */
export function summary(outcomes: readonly Outcome[]): string {
  const failed = outcomes.filter((outcome) => outcome.failed).map(({ check }) => check);
  return failed.length === 0 ? 'Everything holds.' : `Does not hold: ${failed.join(', ')}.`;
}

/** Returns the text of `scripts/torture/RESULTS.md`: a row for each check, with its figures that have a bound. */
export function wholeRunMarkdown({ outcomes, commit, machine, startedAt }: WholeRun): string {
  const minutes = sum(outcomes.map(({ seconds }) => seconds)) / 60;
  return [
    '# Results of the torture',
    '',
    'The last whole run of `npm run torture -- --page`, which writes this page. The [README](README.md) has the guarantees.',
    '',
    `Machine: ${machineText(machine)} Load of other programs before the run: ${machine.loadBefore}.`,
    '',
    `Commit ${commit}, begun at ${startedAt.slice(0, 16).replace('T', ' ')} UTC, ${minutes.toFixed(0)} minutes. **${summary(outcomes)}**`,
    '',
    '| Check | Fault | Figures, each with its bound | Holds |',
    '|---|---|---|---|',
    ...outcomes.map(({ check, title, findings, remark, failed }) => {
      const figures = remark ?? boundFigures(findings).join('; ');
      return `| \`${check}\` | ${title} | ${figures.replaceAll('|', '\\|')} | ${failed ? '**no**' : 'yes'} |`;
    }),
    '',
  ].join('\n');
}

function boundFigures(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ mustBe }) => mustBe !== undefined)
    .map((finding) => {
      const text = `${finding.figure.trim()}: ${valueText(finding)} (${boundText(finding.mustBe)})`;
      return isReached(finding, 'full') ? text : `**${text}**`;
    });
}

function valueText({ value, unit }: Finding): string {
  return `${figureText(value)} ${unit}`.trim();
}

function verdict(finding: Finding, scale: Scale): string {
  if (finding.mustBe === undefined) return '';
  if (finding.isTiming && scale === 'smoke') return 'not judged';
  return isReached(finding, scale) ? 'yes' : 'NO';
}

/** Returns the text of a figure. An integer keeps all its digits. */
function figureText(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en-US') : threeDigits(value);
}

function boundText({ atLeast, atMost }: Bound = {}): string {
  if (atLeast === atMost) return atLeast === undefined ? '' : figureText(atLeast);
  return [
    ...(atLeast === undefined ? [] : [`>= ${figureText(atLeast)}`]),
    ...(atMost === undefined ? [] : [`<= ${figureText(atMost)}`]),
  ].join(', ');
}
