import type { z } from 'zod';
import { shownText } from './shown_text.js';

/**
 * Describes why a value does not fit the schema: the expected value and the actual value.
 * @param value the actual value; `undefined` when the key is missing
 * @param isSecret true if the value must not be shown
 */
export function describeIssue(issue: z.core.$ZodIssue, value: unknown, isSecret = false): string {
  const expected = expectedText(issue);
  if (value === undefined) return `missing; ${expected}`;
  if (isSecret) return expected;
  // If only the combination of a mapping's keys is wrong, the value needs no description.
  return issue.code === 'custom' && isNested(value)
    ? expected
    : `${expected}, found ${describeValue(value)}${numberIn(issue, value)}`;
}

/** Returns advice for a text that is meant as a number, such as `0,1` or `0.1%`; otherwise an empty text. */
function numberIn(issue: z.core.$ZodIssue, value: unknown): string {
  const text = typeof value === 'string' ? value.replace(',', '.').replace(/ ?%$/, '') : '';
  const isMeant =
    issue.code === 'invalid_type' && issue.expected === 'number' && /^-?\d+(?:\.\d+)?$/.test(text);
  return isMeant ? `: write ${text}` : '';
}

/** Returns the schema's own message if the schema has one. Such a message begins with "expected". */
function expectedText(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith('expected ')) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `expected ${boundText('more than', 'at least', issue.inclusive, issue.minimum, issue.origin)}`;
    case 'too_big':
      return `expected ${boundText('less than', 'at most', issue.inclusive, issue.maximum, issue.origin)}`;
    case 'invalid_value':
      return `expected ${listText(issue.values.map(String))}`;
    case 'invalid_union':
      return `expected ${'options' in issue ? listText((issue.options ?? []).map(String)) : issue.message}`;
    case 'invalid_format':
      return issue.format === 'date' ? 'expected a date such as 2027-01-31' : `expected ${issue.format}`;
    default:
      return `expected something else (${issue.message})`;
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
};

function boundText(
  strict: string,
  inclusive: string,
  isInclusive: boolean | undefined,
  bound: number | bigint,
  origin: string,
): string {
  const limit = `${isInclusive === false ? strict : inclusive} ${bound}`;
  if (origin === 'array') return `a list of ${limit} ${bound === 1 ? 'value' : 'values'}`;
  return origin === 'string' ? `text of ${limit} characters` : `a number of ${limit}`;
}

function listText(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `one of ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}

/** The length of the longest text or number that messages show. A longer text may be a secret in the wrong place. */
const SHOWN_CHARACTERS_MAX = 24;

function describeValue(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'a mapping';
  const text = String(value);
  // An address may contain a password.
  if (text.length > SHOWN_CHARACTERS_MAX || shownText(text) !== text || /:\/\/|@/.test(text))
    return typeof value === 'string' ? `a text of ${text.length} characters` : 'another number';
  return typeof value === 'string' ? JSON.stringify(text) : text;
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
