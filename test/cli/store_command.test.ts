import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { appendTo } from '../../scripts/load/store_records.js';
import { registerBackup } from '../../src/cli/backup_command.js';
import { registerStore } from '../../src/cli/store_command.js';
import { logFolderOf, segmentPath } from '../../src/log/disk/segment.js';
import { openStore } from '../../src/log/store/store.js';
import { StreamingIds } from '../../src/log/store/streaming_ids.js';
import { atSecond, putInputs, START_S, sampleAggregate, storeOptions, units } from '../log/store/sample.js';
import { runCommand } from './run_command.js';

const DAY_S = 86_400;

async function smallFolder(dir: string): Promise<void> {
  const options = storeOptions(dir);
  const store = await openStore(options);
  const aggregate = sampleAggregate(options.assets[0]!, options.publishers, units(1), atSecond(START_S));
  putInputs(store, aggregate);
  appendTo(store, aggregate);
  await store.close();
  StreamingIds.read(dir).add(1, [{ id: 1, symbol: 'ASSET0USD', signatureType: 'evm' }]);
}

test('a folder is shown as text and as JSON, and copied', async (t) => {
  const dir = t.testdir();
  const source = join(dir, 'source');
  await smallFolder(source);
  const shown = await runCommand(registerStore, ['store', source]);
  t.equal(shown.exitCode, 0);
  const text = shown.stdout.join('\n');
  t.match(text, /source: \d+\.\d [kM]B, format 2, no service runs on it/);
  t.match(text, /\nASSET0USD +priced +[\d,]+ s ago +2 +-\n/);
  t.match(text, /\ndamage: none/);
  const json = await runCommand(registerStore, ['store', source, '--json']);
  const assets = [{ symbol: 'ASSET0USD', state: 'priced', inputs: 2, newestSecond: START_S }];
  t.match(JSON.parse(json.stdout.join('')), { isInUse: false, format: 2, isClean: true, damage: [], assets });
  const target = join(dir, 'target');
  const copied = await runCommand(registerBackup, ['backup', target, '--from', source]);
  t.equal(copied.exitCode, 0);
  t.match(copied.stdout.join(), /target: 3 files, \d+\.\d kB, checked: format, log, streaming_ids\.txt/);
  t.equal(copied.stderr, '', 'a pipe shows no progress');
  t.equal(StreamingIds.read(target).size, 1, 'with the list of streaming IDs');
});

test('damage is exit status 1', async (t) => {
  const dir = t.testdir();
  await smallFolder(dir);
  const segment = segmentPath(logFolderOf(dir), 1);
  const bytes = readFileSync(segment);
  bytes[bytes.length - 100]! ^= 1;
  writeFileSync(segment, Buffer.concat([bytes, bytes]));
  const { stdout, exitCode } = await runCommand(registerStore, ['store', dir]);
  t.equal(exitCode, 1);
  t.match(stdout.join('\n'), /\ndamage: [12]\n {2}.*0001\.log is damaged at byte \d+/);
});

test('a folder forgets the log of its cluster, and nothing else', async (t) => {
  const dir = t.testdir();
  await smallFolder(dir);
  const options = storeOptions(dir);
  const before = await openStore(options);
  const [asset] = options.assets;
  for (const day of [1, 2, 3])
    appendTo(
      before,
      sampleAggregate(asset!, options.publishers, units(day), atSecond(START_S + day * DAY_S)),
    );
  await before.durable();
  const id = '0123456789abcdef'.repeat(4);
  before.log.position = { sequence: 9, id };
  const days = before.sealedDays(asset!);
  await before.close();
  const first = await runCommand(registerStore, ['store', dir]);
  t.ok(first.stdout.includes(`log: applied all records up to 9 (${id})`));
  const { exitCode, stdout } = await runCommand(registerStore, ['store', dir, '--new-log']);
  t.equal(exitCode, 0);
  t.ok(stdout.includes(`log: forgotten; the folder has all records up to 9 (${id})`));
  const again = await runCommand(registerStore, ['store', dir]);
  t.notOk(again.stdout.some((line) => line.startsWith('log:')));
  const after = await openStore(options);
  t.equal(after.log.position, undefined);
  t.equal([...after.inputs()].length, 2);
  t.equal(after.newest(asset!)?.aggregate?.price, units(3));
  t.same(after.sealedDays(asset!), days);
  const inUse = await runCommand(registerStore, ['store', dir, '--new-log']);
  t.match(inUse, { exitCode: 1, stderr: /in use by another process/ });
  await after.close();
});
