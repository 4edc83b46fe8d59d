import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { ROOT, section } from '../pages.js';
import { promtool } from './prometheus.js';

const RULES = join(ROOT, 'scripts/deploy/alerts.yml');
const TESTS = join(ROOT, 'scripts/deploy/alerts.test.yml');

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
}

test('every series of the tests has the labels that a scrape gives it', async (t) => {
  const { tests } = parse(readFileSync(TESTS, 'utf8')) as {
    tests: readonly { readonly input_series: readonly { readonly series: string }[] }[];
  };
  const bare = tests
    .flatMap(({ input_series }) => input_series.map(({ series }) => series))
    .filter((series) => !/[{,]job="/.test(series) || !/[{,]instance="/.test(series));
  t.same(bare, []);
});

test('every alert has a test, and a row of the page', async (t) => {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as RuleFile;
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)).sort();
  const { tests } = parse(readFileSync(TESTS, 'utf8')) as { tests: readonly { readonly name: string }[] };
  const tested = tests.map(({ name }) => name).filter((name) => name.startsWith('Tickseal'));
  t.same([...new Set(tested)].sort(), alerts);
  const rows = section('scripts/deploy/README.md', 'Alerts').matchAll(/^\| `(Tickseal\w+)`/gm);
  t.same([...rows].map(([, name]) => name).sort(), alerts);
});

test('promtool runs the tests of the alerts', async (t) => {
  const tested = promtool(['test', 'rules', TESTS]);
  if (tested === undefined) return t.pass('skipped: there is no promtool');
  t.equal(tested.status, 0, tested.output);
});
