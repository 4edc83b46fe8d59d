import fc from 'fast-check';
import { test } from 'tap';
import { parseConfig } from '../../src/config/load.js';

const errorsOf = (text: string): string[] => {
  const result = parseConfig(text, 'config.yaml');
  return result.ok ? [] : result.errors;
};

test('every error of a file is reported, in its order, with line, column and key path', async (t) => {
  const text = `service: { taxonomy_id: 70000, nope: 1 }
keys: { stark: {} }
tokens:
  - name: alice
    sha256: &hash "${'ab'.repeat(32)}"
    scopes: [rest, foo]
  - name: alice
    sha256: *hash
    scopes: [rest]
    assets: [BTCUSD, ETHUSD]
assets:
  - symbol: BTCUSD
    bogus: 1
  - id: 1
    symbol: LTCUSD
    id: 2
    calendar: nyse
  - id: 2
    symbol: BTCUSD
    signature_type: evm
pushed_assets: { a b: { "": {} }, __proto__: {} }
`;
  t.same(errorsOf(text), [
    'config.yaml:1:12 service.taxonomy_id: expected a number of at most 65535, found 70000',
    'config.yaml:1:32 service.nope: unknown key',
    'config.yaml:2:1 keys.evm: missing; expected a mapping of keys to values',
    'config.yaml:2:9 keys.stark: expected either file or env',
    'config.yaml:6:20 tokens[0].scopes[1]: expected one of rest, stream or publish, found "foo"',
    'config.yaml:7:5 tokens[1].name: the same as tokens[0].name: each needs its own',
    'config.yaml:8:5 tokens[1].sha256: the same as tokens[0].sha256: each needs its own',
    'config.yaml:10:22 tokens[1].assets[1]: unknown asset "ETHUSD"; assets has no such symbol',
    'config.yaml:12:5 assets[0].id: missing; expected a number',
    'config.yaml:13:5 assets[0].bogus: unknown key',
    'config.yaml:16:5 assets[1].id: duplicate key',
    'config.yaml:17:5 assets[1].calendar: unknown calendar "nyse"; known are none, us_equities, forex, metals',
    'config.yaml:18:5 assets[2].id: the same as assets[1].id: each needs its own',
    'config.yaml:19:5 assets[2].symbol: the same as assets[0].symbol: each needs its own',
    'config.yaml:21:25 pushed_assets["a b"][""]: expected text of 1 to 256 characters without control characters',
    'config.yaml:21:35 pushed_assets.__proto__: unknown key',
  ]);
});

test('a text that a reader takes for a number comes with the number', async (t) => {
  for (const [text, ending] of [
    ['0,1', ': write 0.1'],
    ['-5 %', ': write -5'],
    ['1,000,000', ''],
  ])
    t.equal(
      errorsOf(`assets:\n  - { id: 1, symbol: BTCUSD, delta_percent: "${text}" }`).at(-1),
      `config.yaml:2:30 assets[0].delta_percent: expected a number, found "${text}"${ending}`,
    );
});

test('an error in the YAML names its line and column', async (t) => {
  for (const [text, ...errors] of [
    ['keys:\n  evm: "x\n', '3:1: Missing closing "quote'],
    ['a: 1\n---\nb: 2', '2:1: expected one document, found another one'],
    ['keys: !env K', '1:7: the tag is not known'],
    ['? [a]\n: 1', '1:3: expected text as a key'],
    ['keys: *nope', '1:1 keys: the alias names no anchor before it'],
    ['', '1:1: expected a mapping of keys to values, found nothing'],
    ['- keys', '1:1: expected a mapping of keys to values, found a list'],
  ] as const) {
    t.same(
      errorsOf(text),
      errors.map((error) => `config.yaml:${error}`),
    );
  }
});

test('a number that a double would change is refused rather than rounded', async (t) => {
  const message = 'not a plain decimal number that is kept exactly; put it in quotes if it is meant as text';
  for (const number of ['0x10', '1e0', '.inf', '007', '1.00000000000000000001', '12345678901234567890']) {
    const text = `service: { taxonomy_id: ${number} }\nkeys: { evm: { env: K } }`;
    t.same(errorsOf(text), [`config.yaml:1:12 service.taxonomy_id: ${message}`], number);
  }
  const address = '0x99e295e85cb07c16b7bb62a44df532a7f2620237';
  t.same(errorsOf(`keys: { evm: { env: K } }\npublishers: [{ key: ${address} }]`), [
    `config.yaml:2:16 publishers[0].key: ${message}`,
  ]);
  t.same(errorsOf('service: { taxonomy_id: 10.0 }\nkeys: { evm: { env: K } }'), []);
});

test('two keys of one type that are equal as numbers are duplicates, of two types they are not', async (t) => {
  const head = 'keys: { evm: { env: K }, stark: { env: S } }\npublishers:\n';
  const address = 'ab'.repeat(20);
  const stark = ['0x00ab', '0xAB'].map(
    (key) => `  - { key: "${key}", signature_type: stark, oracle_id: czowx }\n`,
  );
  t.same(errorsOf(head + stark.join('')), [
    'config.yaml:4:7 publishers[1].key: the same as publishers[0].key: each needs its own',
  ]);
  const both = `  - key: "0x${address}"\n  - { key: "0x${address}", signature_type: stark, oracle_id: czowx }\n`;
  t.same(errorsOf(head + both), []);
});

test('a symbol may be there once in each signature type, with an ID each', async (t) => {
  const errors = (...assets: string[]) =>
    errorsOf(`keys: { evm: { env: K }, stark: { env: S } }\nassets:\n${assets.join('')}`);
  const evm = (id: number) => `  - { id: ${id}, symbol: BTCUSD }\n`;
  const stark = (id: number) => `  - { id: ${id}, symbol: BTCUSD, signature_type: stark }\n`;
  t.same(errors(stark(2), evm(1)), []);
  t.same(errors(evm(1), stark(1), stark(4)), [
    'config.yaml:4:7 assets[1].id: the same as assets[0].id: each needs its own',
    'config.yaml:5:14 assets[2].symbol: the same as assets[1].symbol: each needs its own',
  ]);
});

test('values that are nested too deeply are an error with a place', async (t) => {
  for (const text of [
    `a: ${'['.repeat(20_000)}`,
    Array.from({ length: 3_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
  ])
    t.match(errorsOf(text)[0], /^config\.yaml:\d+:\d+: values are nested too deeply$/);
});

test('any text gives a result', async (t) => {
  const word = fc.constantFrom(...'keys assets evm x 1 0.1 *a &a :_ _ -_ { } [ ] " ! ?_ \n'.split(' '));
  const words = fc.array(word, { maxLength: 30 }).map((parts) => parts.join('').replaceAll('_', ' '));
  fc.assert(
    fc.property(fc.oneof(fc.string(), words), (text) =>
      errorsOf(text).every((error) => /^config\.yaml:[1-9]\d*:[1-9]\d*/.test(error)),
    ),
  );
  t.pass();
});
