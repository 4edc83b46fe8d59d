import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { seededRandom } from '../../scripts/load/random.js';
import { readQuickly } from '../../src/config/quick_yaml.js';
import type { Path } from '../../src/config/yaml_data.js';
import { readYaml } from '../../src/config/yaml_text.js';

const QUICK = [
  'a: |\n  text\nb: >-\n  text\n  goes on\nc: text\n  goes on\n',
  "a: \"es\\u0063aped\"\nb: 'it''s'\n",
  '- - a\n- [b: c, {d:e}, 1.50, ]\n',
  '{"a":{"b":[1,2,{"c":"d"}]},"e":null,\n "f":true, "g": []}',
  'a:\n- b: 1\n  c: 2\n- d\n',
  'a:\n  - b: [1, x y]\n    c: {d: e, f: "g"}\n  # note\n\n  -  k: \'v\'\nz: 5m # note\n',
  'a: 1d\nb: 0.5\nc: 127.0.0.1:80\nd: https://a.b/c\ne: -3\nf: ./key.hex\ng:\nh: "#"\n',
  ...['tickseal', 'sources'].map((name) =>
    readFileSync(new URL(`../../../scripts/deploy/${name}.yaml`, import.meta.url), 'utf8'),
  ),
];
/** Texts that only the library with places may judge. */
const NOT_QUICK = [
  '',
  'a: &x 1\nb: *x',
  'a: !tag 1',
  'a:\t1',
  '---\na: 1',
  '...\na: 1',
  'a:\n- "b" c: 1',
  'a:\n- [b, ] c: 1',
  'a:\n- {b: 1}c: 1\n',
  "a:\n- 'b'? \n c",
  'a: 1\r\nb: 2',
  'a: 1\na: 2',
  '__proto__: 1',
  'null: 1',
  '1: 2',
  'a: 0x10',
  'a: 1e3',
  'a: 007',
  'a: 12345678901234567890',
  'a: -0',
  'a: .5',
  'a: b: c',
  'a: [1,\n2]',
  'a: 1\n b: 2',
  '  a: 1\nb: 2',
  `${'['.repeat(100)}${']'.repeat(100)}`,
];
const PARTS = [...' \n:-#,[]{}"\'&*!|>?%~.10', ': ', '- ', ' #', '\n  ', '\n- ', '0x1', '1e5', 'null', 'é'];
const MUTANTS = 5_000;

/** Compares a text with the other library's answer. @returns `undefined` if the text is left to that library, otherwise whether the answers are equal */
function isLikeLibrary(text: string): boolean | undefined {
  const quick = readQuickly(text);
  if (quick === undefined) return undefined;
  const full = readYaml(text);
  const paths = pathsOf(quick.value);
  const answer = ({ value, locate }: typeof full) =>
    JSON.stringify([value, paths.map((path) => locate(path))]);
  return full.problems.length === 0 && answer(quick) === answer(full);
}

/** Returns each path of a value, and for each path two paths without a value. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  const children = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const below = children.map(([key, child]) =>
    pathsOf(child, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return [path, [...path, 'missing'], [...path, 9_999], ...below.flat()];
}

test('most texts give the data and the places that the other library gives', async (t) => {
  for (const text of QUICK) t.equal(isLikeLibrary(text), true, text.slice(0, 60));
});

test('the other texts are left to the library with places', async (t) => {
  for (const text of NOT_QUICK) t.equal(readQuickly(text), undefined, JSON.stringify(text));
});

test('changed texts are read as by the library with places, or left to it', async (t) => {
  const next = seededRandom(1);
  const random = (below: number) => Math.floor(next() * below);
  let read = 0;
  for (let i = 0; i < MUTANTS; i++) {
    let text = QUICK[random(QUICK.length)]!.slice(0, 600);
    for (let changes = 1 + random(3); changes > 0; changes--) {
      const at = random(text.length);
      const part = random(3) === 0 ? '' : PARTS[random(PARTS.length)];
      text = text.slice(0, at) + part + text.slice(at + random(2));
    }
    const isEqual = isLikeLibrary(text);
    if (isEqual === false) t.fail(JSON.stringify(text));
    if (isEqual === true) read++;
  }
  t.ok(read > MUTANTS / 20, `${read} changed texts are read`);
});
