import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'tap';
import { parse, stringify } from 'yaml';
import { type FileValue, readPlainYaml } from '../../../src/client/page/plain_yaml.js';
import { importQuorum } from '../../../src/client/page/quorum_import.js';
import { readQuorumLink } from '../../../src/client/page/quorum_link.js';

const KEYS = ['aa', 'bb', 'cc'].map((digits) => `0x${digits.repeat(20)}`);
const FILE = `# Three operators
threshold: 2               # at least 2
max_spread_percent: 0.5
max_age: 5s
operators:
  - { name: alpha, urls: [https://a.example.com], signers: ["${KEYS[0]}"], token: { env: ALPHA_TOKEN } }
  - name: beta
    urls:
    - wss://b1.example.com
    - https://b2.example.com/prices   # behind a proxy
    signers: [
      '${KEYS[1]}', # until July
      "${KEYS[2]}",
    ]
    token: { file: beta.token }
`;

function plainOf(value: FileValue): unknown {
  if (value.kind === 'text') return value.text;
  if (value.kind === 'list') return value.items.map(plainOf);
  return Object.fromEntries([...value.entries].map(([key, entry]) => [key, plainOf(entry)]));
}

test('a file of operators becomes a link without tokens', async (t) => {
  const expected = {
    ok: true,
    quorum: {
      operators: [
        { name: 'a.example.com', urls: ['https://a.example.com'], signers: [KEYS[0]] },
        {
          name: 'b1.example.com and 1 more',
          urls: ['https://b1.example.com', 'https://b2.example.com/prices'],
          signers: [KEYS[1], KEYS[2]],
        },
      ],
      threshold: 2,
      maxSpreadPercent: 0.5,
      maxAgeMs: 5_000,
    },
  };
  const json = JSON.stringify(parse(FILE), undefined, 2);
  for (const text of [
    FILE,
    FILE.replaceAll('\n', '\r\n'),
    `\uFEFF---\n${FILE}`,
    json,
    stringify(parse(FILE)),
  ]) {
    const imported = importQuorum(text);
    if (!imported.ok) throw new Error(imported.reason);
    t.same(readQuorumLink(imported.fragment), expected);
    t.notMatch(imported.fragment, /token|ALPHA/);
  }
});

test('a file that cannot be used gives its line and its reason', async (t) => {
  const cases: readonly (readonly [text: string, reason: RegExp])[] = [
    ['', /line 1: the file is empty/],
    ['--- - "0x12"', /line 1: nothing may follow --- on its line/],
    [FILE.replace('max_age: 5s', 'max_age: soon'), /line 4: max_age is invalid: soon/],
    [FILE.replace('max_age', 'max_aeg'), /line 4: the file has an unknown key max_aeg/],
    [FILE.replace('  - name: beta', '  - nmae: beta'), /line 7: operators\[1\] has an unknown key nmae/],
    [FILE.replace('    - wss://b1.example.com', '\t- wss://b1.example.com'), /line 9: a tab/],
    [FILE.replace(KEYS[2]!, '0x12'), /line 13: operators\[1\]\.signers is invalid: 0x12/],
    [FILE.replace('wss://b1.example.com', 'b1.example.com'), /line 9: operators\[1\]\.urls is invalid/],
    [FILE.replace('    ]\n', ''), /line \d+: expected a comma or \]/],
    [FILE.replace('threshold: 2  ', 'threshold: &two 2'), /line 2: .* is not read here/],
    [FILE.replace('name: alpha', 'name: |'), /line 6: /],
    [FILE.replace('max_age: 5s', 'threshold: 3'), /line 4: threshold is given twice/],
    [`${FILE} more`, /line \d+: /],
    ['operators: []', /line 1: operators must be a list/],
    ['threshold: 2', /line 1: operators is missing/],
    ['[1, 2]', /line 1: the file must be a mapping/],
    ['['.repeat(100), /line 1: the nesting is too deep/],
    ['x'.repeat(100_001), /the file is too long/],
  ];
  for (const [text, reason] of cases) t.match(importQuorum(text), { ok: false, reason }, text.slice(0, 60));
});

const scalar = fc.oneof(
  fc.constantFrom(
    'a',
    'https://a.example:8443/x',
    '0x12',
    "it's",
    'a "b"',
    'a: b',
    'a #b',
    '- a',
    '',
    '2',
    'true',
    '{',
  ),
  fc.string({ maxLength: 8 }).filter((text) => !/[\t\r]/.test(text)),
);
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-z_]{1,6}$/), tie('value'), {
      minKeys: 1,
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));
const form = fc.record({
  lineWidth: fc.constant(0),
  indent: fc.integer({ min: 1, max: 4 }),
  indentSeq: fc.boolean(),
  collectionStyle: fc.constantFrom('any' as const, 'flow' as const, 'block' as const),
  defaultStringType: fc.constantFrom('QUOTE_DOUBLE' as const, 'QUOTE_SINGLE' as const),
  defaultKeyType: fc.constant('PLAIN' as const),
  blockQuote: fc.constant(false),
});
const change = fc.record({
  at: fc.nat(),
  removed: fc.nat({ max: 1 }),
  added: fc.constantFrom(...' \n:-#,[]{}"\'\\&*!|>%@`?x'),
});

test('the reader reads what a YAML library writes', async () => {
  fc.assert(
    fc.property(anyValue, form, (value, options) => {
      assert.deepEqual(plainOf(readPlainYaml(stringify(value, options))), value);
    }),
    { numRuns: 1_000 },
  );
});

test('a text that is read has the same value for a YAML library', async (t) => {
  let read = 0;
  fc.assert(
    fc.property(
      anyValue,
      form,
      fc.array(change, { minLength: 1, maxLength: 3 }),
      (value, options, changes) => {
        const characters = [...stringify(value, options)];
        for (const { at, removed, added } of changes)
          characters.splice(at % characters.length, removed, added);
        const text = characters.join('');
        let found: unknown;
        try {
          found = plainOf(readPlainYaml(text));
        } catch (error) {
          assert.match((error as Error).message, /^line \d+: ./);
          return;
        }
        read += 1;
        assert.deepEqual(found, parse(text, { schema: 'failsafe', logLevel: 'silent' }));
      },
    ),
    { numRuns: 3_000 },
  );
  t.ok(read > 100, `${read} changed files were read`);
});
