import { test } from 'tap';
import { bodyOf, routesOf } from '../../../scripts/site/described_routes.js';

// Readers of the documents use the regular expressions of their own languages. The patterns use only the parts that mean the same
// in JavaScript with and without the flag `u`, Python, PCRE and RE2 (Go): no classes such as \d, \s and \p, because their meaning
// differs, and no non-ASCII characters, because their length differs.

const CHARACTER = String.raw`(?:[\w ,:"<>=@#%&;~/!'-]|\\x[0-7][0-9a-f]|\\[\\.])`;
const CLASS = String.raw`\[\^?(?:${CHARACTER}(?:-${CHARACTER})?)+\]`;
const COUNT = String.raw`(?:[*+?]|\{[0-9]{1,3}(?:,[0-9]{0,3})?\})`;
const COMMON = new RegExp(String.raw`^\^(?:(?:\(\?:|-|${CHARACTER}|${CLASS}|\))${COUNT}?|\|)*\$$`);

/** All patterns of the served documents, each once. */
const PATTERNS = [
  ...new Set(
    ['/openapi.json', '/asyncapi.json'].flatMap((path) =>
      patternsOf(JSON.parse(bodyOf(routesOf('service'), path))),
    ),
  ),
];

test('patterns are of the part that all dialects have in common', async (t) => {
  t.ok(PATTERNS.length >= 10, `${PATTERNS.length} patterns`);
  for (const pattern of PATTERNS) t.match(pattern, COMMON);
  for (const pattern of [
    String.raw`^\d$`,
    String.raw`^[^\p{C}]$`,
    String.raw`^[\s]$`,
    '^(?=a)$',
    '^ü$',
    '^a',
  ])
    t.notMatch(pattern, COMMON);
});

function patternsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'pattern' && typeof inner === 'string' ? [inner] : patternsOf(inner),
  );
}
