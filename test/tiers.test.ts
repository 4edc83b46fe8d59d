import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { isOfTier, testFiles } from '../scripts/test/files.js';
import { isLight, lightTests, mayListen, sharesService } from '../scripts/test/light_tests.js';
import { ROOT } from './pages.js';

const FILES = testFiles();

/** Calls that start programs or costly helpers. Only tests of the whole tier may contain them. */
const STARTS_MUCH =
  /launchBrowser\(|natsServers\(|TestCluster\.start\(|'demo-cluster'|\b(?:spawn|spawnSync|execFile|execFileSync|runProgram)\(\s*'(?:npm|npx|cargo|cc|go|chromium|nats-server)'/;

/** The largest environment variable with which Linux starts a process. A part of this size is for the name. */
const VARIABLE_BYTES_MAX = 128 * 1024 - 1024;

test('the name of a file says its tier', async (t) => {
  const tiersOf = (file: string) =>
    (['fast', 'whole', 'long'] as const).filter((tier) => isOfTier(file, tier));
  t.same(tiersOf('test/wire/paths.test.js'), ['fast', 'whole']);
  t.same(tiersOf('test/tours.whole.test.js'), ['whole']);
  t.same(tiersOf('test/cluster/simulation.long.test.js'), ['long']);
});

test('fast tests start no browser, server, demo, package manager or compiler', async (t) => {
  const fast = FILES.filter((file) => isOfTier(file, 'fast') && file !== 'test/tiers.test.js');
  t.ok(fast.length > 100);
  const much = fast.filter((file) =>
    STARTS_MUCH.test(readFileSync(join(ROOT, file.replace('.js', '.ts')), 'utf8')),
  );
  t.same(much, []);
});

test('light tests load no threads, processes or sockets', async (t) => {
  const rooms = new Set(FILES.filter(isLight).map((file) => file.split('/')[1]));
  for (const room of ['wire', 'model', 'prices', 'stream']) t.ok(rooms.has(room), room);
  for (const [file, why] of [
    ['service/rest', 'a service'],
    ['server/access/shared_access', 'a thread'],
    ['prices/aggregator', 'threads, by a module'],
    ['cli/option_forms', 'it changes what all tests of a process share'],
    ['tours.whole', 'another tier'],
  ] as const) {
    t.ok(existsSync(join(ROOT, `test/${file}.test.ts`)), file);
    t.notOk(isLight(`test/${file}.test.js`), `${file}: ${why}`);
  }
});

test('tests with a service or threads share a process unless they start one or change it', async (t) => {
  for (const file of ['service/rest', 'fire/limits.whole', 'fire/frames'])
    t.equal(sharesService(`test/${file}.test.js`), !file.includes('whole'), file);
  const starting = FILES.filter((file) =>
    /from 'node:(?:child_process|worker_threads)'/.test(
      readFileSync(join(ROOT, file.replace('.js', '.ts')), 'utf8'),
    ),
  );
  t.same(starting.filter(sharesService), []);
});

test('tests that may open a listener are known, so that a Node without uWebSockets.js runs the others', async (t) => {
  for (const file of ['service/rest', 'server/uws/closing', 'service/faults.whole', 'cli/program'])
    t.ok(mayListen(`test/${file}.test.js`), file);
  for (const file of ['log/store/store', 'crypto/pool/pool', 'crypto/keccak'])
    t.notOk(mayListen(`test/${file}.test.js`), file);
});

test('the variables that tap gives to each test are short enough in a folder with a path of 200 characters', async (t) => {
  const settings = parse(readFileSync(join(ROOT, '.taprc'), 'utf8')) as Record<string, unknown>;
  t.equal(settings['coverage-exclude'], undefined, 'tap would add each excluded file');
  t.match(settings['node-arg'], ['--import=./dist/test/coverage_of_src.js']);
  const files = FILES.filter((file) => isOfTier(file, 'whole'));
  const bundles = lightTests(files);
  const bundled = new Set(bundles.flatMap((bundle) => bundle.files));
  const run = [...files.filter((file) => !bundled.has(file)), ...bundles.map(({ bundle }) => bundle)];
  const folder = `/${'x'.repeat(199)}`;
  t.ok(run.map((file) => `${folder}/dist/${file}`).join('\n').length < VARIABLE_BYTES_MAX);
});
