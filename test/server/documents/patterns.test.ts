import { test } from 'tap';
import { PATTERNS, TEXTS } from './patterns.js';

// Readers of the documents use the regular expressions of their own languages. The patterns use only the parts that mean the same
// in JavaScript with and without the flag `u`, Python, PCRE and RE2 (Go): no classes such as \d, \s and \p, because their meaning
// differs, and no non-ASCII characters, because their length differs.

const CHARACTER = String.raw`(?:[\w ,:"<>=@#%&;~/!'-]|\\x[0-7][0-9a-f]|\\[\\.])`;
const CLASS = String.raw`\[\^?(?:${CHARACTER}(?:-${CHARACTER})?)+\]`;
const COUNT = String.raw`(?:[*+?]|\{[0-9]{1,3}(?:,[0-9]{0,3})?\})`;
const COMMON = new RegExp(String.raw`^\^(?:(?:\(\?:|-|${CHARACTER}|${CLASS}|\))${COUNT}?|\|)*\$$`);

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

test('patterns mean the same with and without the flag u', async (t) => {
  const differing = PATTERNS.flatMap((pattern) => {
    const [plain, unicode] = [new RegExp(pattern), new RegExp(pattern, 'u')];
    return TEXTS.filter((text) => plain.test(text) !== unicode.test(text)).map((text) => [pattern, text]);
  });
  t.same(differing, []);
});
