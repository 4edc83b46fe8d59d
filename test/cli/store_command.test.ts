import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { appendTo } from '../../scripts/load/store_records.js';
import { registerBackup } from '../../src/cli/backup_command.js';
import { registerStore } from '../../src/cli/store_command.js';
import { listSegments, logFolderOf, SegmentReader, segmentPath } from '../../src/log/disk/segment.js';
import { LOSS_ENTRY } from '../../src/log/store/log_entries.js';
import { openStore } from '../../src/log/store/store.js';
import { StreamingIds } from '../../src/log/store/streaming_ids.js';
import { atSecond, putInputs, START_S, sampleAggregate, storeOptions, units } from '../log/store/sample.js';
import { runCommand } from './run_command.js';

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
  t.match(text, /\nlog +1 /);
  t.match(text, /\nASSET0USD +priced +[\d,]+ s ago +2 +-\n/);
  t.match(text, /\nknown until 2024-01-01T00:00:00Z, segment 1; everything was written at the last stop\n/);
  t.match(text, /\nstreaming IDs: 1 meanings\n/);
  t.match(text, /\ndamage: none/);
  const json = await runCommand(registerStore, ['store', source, '--json']);
  t.match(JSON.parse(json.stdout.join('')), {
    isInUse: false,
    format: 2,
    segment: 1,
    isClean: true,
    damage: [],
    newestSecond: START_S,
    assets: [
      { symbol: 'ASSET0USD', signatureType: 'evm', state: 'priced', inputs: 2, newestSecond: START_S },
    ],
  });
  const target = join(dir, 'target');
  const copied = await runCommand(registerBackup, ['backup', target, '--from', source]);
  t.equal(copied.exitCode, 0);
  t.match(copied.stdout.join(), /target: 3 files, \d+\.\d kB, checked: format, log, streaming_ids\.txt/);
  t.equal(copied.stderr, '', 'a pipe shows no progress');
  t.equal(StreamingIds.read(target).size, 1, 'with the list of streaming IDs');
});

test('a folder of another format is refused with what to do', async (t) => {
  const shown = async (files: Record<string, string>) => {
    const dir = t.testdir(files);
    const { stderr, exitCode } = await runCommand(registerStore, ['store', dir]);
    t.equal(exitCode, 1);
    return stderr.replaceAll(dir, 'FOLDER');
  };
  t.equal(
    await shown({ format: '7\n' }),
    'store: FOLDER cannot be read: it has format "7", and this program reads format 2: use the version of the program that made it\n',
  );
  t.match(await shown({ 'data.mdb': '' }), /it has the file data\.mdb of format 1.*: name another folder/);
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
  for (let day = 1; day < 4; day++) {
    for (const second of [START_S + day * 86_400, START_S + day * 86_400 + 3_600])
      appendTo(before, sampleAggregate(asset!, options.publishers, units(day), atSecond(second)));
    await before.durable();
  }
  const id = '0123456789abcdef'.repeat(4);
  before.log.position = { sequence: 9, id };
  const days = before.sealedDays(asset!);
  t.ok(days.end - days.first > 1, 'there are candles of some days');
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

test('a node that was killed and forgets its log notes that aggregates may be missing', async (t) => {
  const dir = t.testdir();
  const options = storeOptions(join(dir, 'store'));
  const store = await openStore(options);
  const [asset] = options.assets;
  appendTo(store, sampleAggregate(asset!, options.publishers, units(1), atSecond(START_S)));
  await store.durable();
  const killed = join(dir, 'killed');
  cpSync(options.dir, killed, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  await store.close();
  const entriesOf = async (folder: string) => {
    const entries: string[] = [];
    for (const number of listSegments(logFolderOf(folder))) {
      const segment = (await SegmentReader.open(logFolderOf(folder), number))!;
      await segment.refresh((lines) => {
        entries.push(...lines);
      });
      await segment.close();
    }
    return entries;
  };
  for (const folder of [options.dir, killed]) await runCommand(registerStore, ['store', folder, '--new-log']);
  t.notOk((await entriesOf(options.dir)).includes(LOSS_ENTRY), 'a node that was stopped');
  t.ok((await entriesOf(killed)).includes(LOSS_ENTRY), 'a killed node');
});
