import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseConfig } from '../src/config/load.js';
import { fileSchema } from '../src/config/schema.js';
import { WITNESS_METRICS } from '../src/publiclog/witness/witness_metrics.js';
import { createRoutes } from '../src/server/routes/index.js';
import { METRICS } from '../src/service/metrics/metrics.js';
import { SOURCE_METRICS } from '../src/sources/markets/source_metrics.js';
import { firstCells, PAGES, ROOT, readPage, section } from './pages.js';
import { runShell } from './run_shell.js';

// Tests that the statements of the pages are true, as far as a machine can check them. test/tours.whole.test.ts runs the
// commands of the pages.

const README_LINES_MAX = 200;

test('the README is short, and links to every other page', async (t) => {
  t.ok(readPage('README.md').split('\n').length - 1 <= README_LINES_MAX, `at most ${README_LINES_MAX} lines`);
  for (const page of PAGES.slice(1)) t.match(readPage('README.md'), `](${page})`, page);
});

test('every page is tested', async (t) => {
  const folders = ['src', 'test', 'bench', 'scripts'];
  const found = folders.flatMap((folder) =>
    (readdirSync(join(ROOT, folder), { recursive: true }) as string[]).map((path) => join(folder, path)),
  );
  const pages = found.filter((path) => /(?:^|\/)(?:README|CLUSTER|COMPATIBILITY)\.md$/.test(path));
  t.same(pages.sort(), PAGES.slice(1).sort());
});

test('links lead somewhere', async (t) => {
  for (const page of PAGES) {
    for (const [, target = '', heading] of readPage(page).matchAll(
      /\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g,
    )) {
      const file = target === '' ? page : join(dirname(page), target);
      t.ok(existsSync(join(ROOT, file)), `${page} → ${file}`);
      if (heading !== undefined) t.ok(headingsOf(file).includes(heading), `${page} → ${file}#${heading}`);
    }
  }
});

test('files and scripts that the pages name exist', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  for (const page of PAGES) {
    const text = readPage(page);
    const files = text.matchAll(/`((?:src|test|bench|scripts|aggregat\w+|ingest)\/[\w./-]+\.ts)`/g);
    for (const [, file = ''] of files) {
      t.ok(
        [file, join('src', file)].some((one) => existsSync(join(ROOT, one))),
        `${page}: ${file}`,
      );
    }
    for (const [, built = ''] of text.matchAll(/\bdist\/([\w./-]+)\.js\b/g)) {
      t.ok(existsSync(join(ROOT, `${built}.ts`)), `${page}: dist/${built}.js`);
    }
    for (const [, name = ''] of text.matchAll(/`npm (?:run )?(test|start|(?<=run )[\w:]+)/g)) {
      t.ok(name in scripts, `${page}: npm run ${name}`);
    }
  }
});

test('the annotated configuration has every key, with its default', async (t) => {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(section('src/config/README.md', 'Every key')) ?? [];
  const config = parseConfig(yaml, 'README.md');
  t.same(config.ok ? [] : config.errors, []);

  const keys = keysOf(
    z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' }) as Schema,
    parse(yaml),
  );
  const missing = keys.filter(({ shown }) => shown === undefined).map(({ path }) => path);
  t.same(
    missing,
    // The schema of a private key does not contain its paths, because the paths differ in a list of keys.
    ['keys.log.env', 'keys.stream_log.env', 'cluster.credentials.env'],
    'a key comes from one of two places, and each is shown once',
  );
  for (const { path, shown, fallback } of keys) {
    if (fallback !== undefined && !isEmpty(fallback)) t.same(shown, fallback, `default of ${path}`);
  }
  const known = new Set(keys.map(({ path }) => path));
  for (const page of PAGES) {
    const named = readPage(page).matchAll(
      /`((?:service|listen|admin|keys|ingest|storage|limits|cluster)(?:\.(?!ts`)[a-z_]+)+)`/g,
    );
    for (const [, path = ''] of named) t.ok(known.has(path), `${page}: ${path}`);
  }
});

test('the list of metrics is whole', async (t) => {
  const names = (source: string, pattern: RegExp) =>
    [...source.matchAll(pattern)].map(([, name = '']) => name).sort();
  const real = METRICS.map(({ name }) => name).sort();
  const ofOthers = [...SOURCE_METRICS, ...WITNESS_METRICS].map(({ name }) => name);
  t.same(names(section('src/server/README.md', 'Metrics'), /^\| `(tickseal_\w+)`/gm), real);
  for (const page of PAGES) {
    for (const name of names(readPage(page), /`(tickseal_\w+)`/g))
      t.ok(real.includes(name) || ofOthers.includes(name), `${page}: ${name}`);
  }
});

test('the REST paths are those of the service', async (t) => {
  const clock = { nowNs: () => 0n };
  const options = {
    serviceName: 'service',
    listed: [],
    deployments: [],
    pushedAssets: {},
    signer: {},
    clock,
  };
  // The data for answers may be missing, because the routes are only listed and not called.
  const paths = [...createRoutes(options as unknown as Parameters<typeof createRoutes>[0]).keys()];
  const rows = section('src/server/README.md', 'REST').match(/^\| `\/.*$/gm) ?? [];
  const listed = rows.flatMap((row) => row.split(' | ')[0]!.match(/\/[\w./]+/g) ?? []);
  t.same(listed.sort(), paths.sort());
});

test('the commands are those of the program', async (t) => {
  const help = await runShell(`node ${ROOT}dist/src/cli/main.js --help`);
  const real = [...help.matchAll(/^ {2}([a-z][a-z-]+) /gm)].map(([, name]) => name);
  const listed = [...section('src/cli/README.md', 'Commands').matchAll(/^\| `([a-z-]+)/gm)].map(
    ([, name = '']) => name,
  );
  t.same([...new Set(listed)].sort(), real.filter((name) => name !== 'help').sort());
});

test('the exports of the client are those of its index', async (t) => {
  const index = readFileSync(join(ROOT, 'src/client/index.ts'), 'utf8');
  const exported = [...index.matchAll(/^export \{([\s\S]*?)\}/gm)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  );
  const functions = [...index.matchAll(/^export function (\w+)/gm)].map(([, name = '']) => name);
  // A function with overloads occurs several times in the file.
  const names = new Set([...functions, ...exported]);
  const values = [...names].filter((name) => name !== '' && !name.startsWith('type '));
  const rows = section('src/client/README.md', 'Exports').match(/^\| `.*$/gm) ?? [];
  const listed = rows.flatMap((row) => row.split(' | ')[0]!.match(/\w+/g) ?? []);
  t.same(listed.sort(), values.sort());
});

test('the checks of torture are listed', async (t) => {
  // The answer to an unknown name lists all names.
  const refusal = await runShell(`node ${ROOT}dist/scripts/torture/main.js none 2>&1`);
  const checks = /there is no check none: (.*)/.exec(refusal)?.[1]?.split(', ');
  t.same(firstCells(readPage('scripts/torture/README.md')).sort(), checks?.sort());
});

/** Returns the anchors of a page's headings, in GitHub's form. */
function headingsOf(file: string): string[] {
  const headings = readFileSync(join(ROOT, file), 'utf8').matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The part of JSON Schema that the schema of the configuration needs. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly default?: unknown;
}

interface Key {
  readonly path: string;
  readonly fallback: unknown;
  readonly shown: unknown;
}

/** Returns all keys of the schema. Each key comes with its default and the first value of `value`. */
function keysOf(schema: Schema, value: unknown, path = ''): Key[] {
  const inside = (value ?? {}) as Readonly<Record<string, unknown>>;
  const keys = Object.entries(schema.properties ?? {}).flatMap(([name, inner]): Key[] => [
    { path: path + name, fallback: inner.default, shown: inside[name] },
    ...keysOf(inner, inside[name], `${path}${name}.`),
  ]);
  const [[name, first] = ['*', undefined]] = Object.entries(inside);
  if (schema.items) keys.push(...keysOf(schema.items, first, `${path}${name}.`));
  if (typeof schema.additionalProperties === 'object')
    keys.push(...keysOf(schema.additionalProperties, first, `${path}${name}.`));
  return keys;
}

function isEmpty(fallback: unknown): boolean {
  return typeof fallback === 'object' && fallback !== null && Object.keys(fallback).length === 0;
}
