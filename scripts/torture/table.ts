import { threeDigits } from '../load/statistics.js';
import { type Bound, type Finding, isReached, type Scale } from './check.js';

/** The result of a check. */
export interface Outcome {
  readonly check: string;
  readonly findings: readonly Finding[];
  /** The reason for a result without figures: the check was skipped or threw an error. */
  readonly remark?: string;
  readonly failed: boolean;
}

/** Returns the figures of all checks as a text table. */
export function outcomesTable(outcomes: readonly Outcome[], scale: Scale): string {
  const rows = outcomes.flatMap(({ check, findings, remark }) => [
    ...(remark === undefined ? [] : [[check, remark, '', '', '']]),
    ...findings.map((finding) => [
      check,
      finding.figure,
      `${figureText(finding.value)} ${finding.unit}`.trim(),
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
