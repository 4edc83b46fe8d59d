import { type Machine, machineText } from '../load/machine.js';
import { sum, threeDigits } from '../load/statistics.js';
import { type Bound, type Finding, isReached, type Scale } from './check.js';

/** The result of a check. */
export interface Outcome {
  readonly check: string;
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
    ...findings.map((finding) => [check, ...cells(finding, scale)]),
  ]);
  const table = [['check', ...COLUMNS.map((column) => column.toLowerCase())], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Returns whether all checks hold, as a sentence. */
export function summary(outcomes: readonly Outcome[]): string {
  const failed = outcomes.filter((outcome) => outcome.failed).map(({ check }) => check);
  return failed.length === 0 ? 'Everything holds.' : `Does not hold: ${failed.join(', ')}.`;
}

/** Returns the text of `scripts/torture/RESULTS.md`. */
export function wholeRunMarkdown({ outcomes, commit, machine, startedAt }: WholeRun): string {
  const minutes = sum(outcomes.map(({ seconds }) => seconds)) / 60;
  return [
    '# Results of the torture',
    '',
    'The last whole run of `npm run torture`, which writes this page. The [README](README.md) describes the checks.',
    '',
    `Machine: ${machineText(machine)} Load of other programs before the run: ${machine.loadBefore}.`,
    '',
    `Commit ${commit}, begun at ${startedAt.slice(0, 16).replace('T', ' ')} UTC, ${minutes.toFixed(0)} minutes. **${summary(outcomes)}**`,
    '',
    ...outcomes.flatMap(checkMarkdown),
  ].join('\n');
}

function checkMarkdown({ check, findings, remark, seconds }: Outcome): string[] {
  const rows = [COLUMNS, COLUMNS.map(() => '---'), ...findings.map((finding) => cells(finding, 'full'))];
  return [
    `## ${check}`,
    '',
    `${seconds.toFixed(0)} s${remark === undefined ? '' : `, ${remark}`}`,
    '',
    ...(findings.length === 0 ? [] : [...rows.map(markdownRow), '']),
  ];
}

function markdownRow(row: readonly string[]): string {
  return `| ${row.map((cell) => cell.replace(/^ +/, (spaces) => '&nbsp;'.repeat(spaces.length)).replaceAll('|', '\\|')).join(' | ')} |`;
}

const COLUMNS = ['Figure', 'Measured', 'Must be', 'Reached'];

function cells(finding: Finding, scale: Scale): string[] {
  return [
    finding.figure,
    `${figureText(finding.value)} ${finding.unit}`.trim(),
    boundText(finding.mustBe),
    verdict(finding, scale),
  ];
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
