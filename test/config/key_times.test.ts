import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { stringify } from 'yaml';
import { loadConfig, parseConfig } from '../../src/config/load.js';
import { sampleWith } from './sample.js';

const day = (n: number) => `2026-12-0${n}T00:00:00Z`;
const dayNs = (n: number) => BigInt(Date.parse(day(n))) * 1_000_000n;

function errorsOf(list: unknown, name = 'evm'): string[] {
  const result = parseConfig(sampleWith(`keys.${name}`, list), 'c');
  return result.ok ? [] : result.errors.map((error) => error.split(' ').slice(1).join(' '));
}

test('a list of keys has one key at each time', async (t) => {
  const list = [
    { file: 'a' },
    { env: 'B', from: day(1) },
    { file: 'c', from: day(2), until: day(3) },
    { file: 'd' },
  ];
  const result = parseConfig(sampleWith('keys.evm', list), 'c');
  t.same(result.ok && result.config.keys.evm, [
    { source: { file: 'a' }, fromNs: 0n, untilNs: dayNs(1) },
    { source: { env: 'B' }, fromNs: dayNs(1), untilNs: dayNs(2) },
    { source: { file: 'c' }, fromNs: dayNs(2), untilNs: dayNs(3) },
    { source: { file: 'd' }, fromNs: dayNs(3), untilNs: undefined },
  ]);
  t.same(errorsOf([{ file: 'a', from: day(1) }]), []);
  t.same(errorsOf([{ file: 'a' }, { file: 'b', from: day(1) }], 'stream'), []);
});

test('lists that leave a gap, overlap, or have another order are refused at their place', async (t) => {
  const from = (n: number) => ({ file: 'b', from: day(n) });
  const until = (n: number) => ({ file: 'a', until: day(n) });
  const cases: [unknown[], RegExp][] = [
    [[], /^keys\.evm: /],
    [[{ file: 'a' }, { file: 'b' }], /^keys\.evm\[0\]: needs until, or keys\.evm\[1\] needs from/],
    [[until(2), from(1)], /^keys\.evm\[1\]\.from: two keys would sign until 2026-12-02T00:00:00Z/],
    [[until(1), from(2)], /^keys\.evm\[1\]\.from: no key would sign from 2026-12-01T00:00:00Z/],
    [[from(2), from(1)], /^keys\.evm\[1\]\.from: not after the key before it/],
    [[{ ...from(2), until: day(1) }, { file: 'b' }], /^keys\.evm\[0\]\.until: not after from/],
    [[until(1)], /^keys\.evm\[0\]\.until: the last key must have no until/],
    [[{ file: 'a', from: '2026-02-30T00:00:00Z' }], /^keys\.evm\[0\]\.from: expected a time in UTC/],
    [[{}], /^keys\.evm\[0\]: expected either file or env/],
    [[{ file: 'a', since: day(1) }], /^keys\.evm\[0\]\.since: unknown key/],
    [Array(9).fill({ file: 'a' }), /^keys\.evm: /],
  ];
  for (const [list, expected] of cases) {
    const errors = errorsOf(list);
    t.match(errors[0], expected, JSON.stringify(list));
    t.ok(errors.length === 1, errors.join('; '));
  }
});

test('the files of a list are read, and a key that is not in force yet is an error', async (t) => {
  const folder = t.testdir({});
  for (const [name, byte] of Object.entries({ 'a.hex': '11', 'b.hex': '22', 'same.hex': '11' }))
    writeFileSync(join(folder, name), byte.repeat(32), { mode: 0o600 });
  const file = join(folder, 'config.yaml');
  const errorsWith = (evm: unknown) => {
    writeFileSync(file, stringify({ keys: { evm } }));
    const result = loadConfig(file, {});
    return result.ok ? [] : result.errors.map((error) => error.slice(error.indexOf(' ') + 1));
  };
  t.same(errorsWith([{ file: 'a.hex' }, { file: 'b.hex', from: day(1) }]), []);
  t.match(errorsWith([{ file: 'a.hex' }, { file: 'same.hex', from: day(1) }]), [
    /^keys\.evm\[1\]: holds the same key as keys\.evm\[0\]/,
  ]);
  t.match(errorsWith([{ file: 'a.hex', from: '2200-01-01T00:00:00Z' }]), [
    /^keys\.evm\[0\]\.from: no key is in force now: the first one begins at 2200-01-01T00:00:00Z/,
  ]);
});
