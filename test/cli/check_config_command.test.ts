import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { registerCheckConfig } from '../../src/cli/check_config_command.js';
import { logFolderOf, segmentPath } from '../../src/log/disk/segment.js';
import { openStore } from '../../src/log/store/store.js';
import { IDS_FILE, StreamingIds } from '../../src/log/store/streaming_ids.js';
import { storeOptions } from '../log/store/sample.js';
import { run } from './run.js';

test('a file without errors is ok', async (t) => {
  const folder = t.testdir({ 'config.yaml': 'keys: { evm: { file: evm.hex } }\n' });
  writeFileSync(join(folder, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  const file = join(folder, 'config.yaml');
  t.same(await run(registerCheckConfig, 'check-config', file), {
    out: `${file}: ok\n`,
    err: '',
    exitCode: 0,
  });
});

test('every error is printed and the exit status is 2', async (t) => {
  const file = join(
    t.testdir({ 'config.yaml': 'keys: { evm: { file: evm.hex } }\nnope: 1\nadmin: { port: x }\n' }),
    'config.yaml',
  );
  t.same(await run(registerCheckConfig, 'check-config', file), {
    out: '',
    err: `${file}:2:1 nope: unknown key\n${file}:3:10 admin.port: expected a number, found "x"\n`,
    exitCode: 2,
  });
  t.match(await run(registerCheckConfig, 'check-config', `${file}.nope`), {
    err: /cannot be read: there is no such file/,
    exitCode: 2,
  });
});

test('warnings are printed and the file is ok', async (t) => {
  const folder = t.testdir({ 'config.yaml': 'keys: { evm: { file: evm.hex } }\nadmin: { host: "::" }\n' });
  writeFileSync(join(folder, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  const file = join(folder, 'config.yaml');
  t.match(await run(registerCheckConfig, 'check-config', file), {
    out: `${file}: ok\n`,
    err: `warning: ${file}:2:10 admin.host: the admin listener asks for no token, and :: may be reached`,
    exitCode: 0,
  });
});

test('a data folder that cannot be used is an error at its key', async (t) => {
  const folder = t.testdir({
    'config.yaml': 'keys: { evm: { file: evm.hex } }\nstorage: { dir: config.yaml }\n',
  });
  writeFileSync(join(folder, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  const file = join(folder, 'config.yaml');
  t.same(await run(registerCheckConfig, 'check-config', file), {
    out: '',
    err: `${file}:2:12 storage.dir: the data folder ${file} cannot be used: ${file} is not a folder\n`,
    exitCode: 2,
  });
});

test('a streaming ID with another meaning than before is an error at its key', async (t) => {
  const text = 'keys: { evm: { file: evm.hex } }\nstorage: { dir: data }\nassets: [{ id: 1, symbol: B }]\n';
  const folder = t.testdir({ 'config.yaml': text, data: {} });
  writeFileSync(join(folder, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  const file = join(folder, 'config.yaml');
  StreamingIds.read(join(folder, 'data')).add(1, [{ id: 1, symbol: 'A', signatureType: 'evm' }]);
  t.same(await run(registerCheckConfig, 'check-config', file), {
    out: '',
    err: `${file}:3:12 assets[0].id: 1 means B (evm) here, and has meant A (evm) under taxonomy_id 1: raise service.taxonomy_id, or give B an ID that was never used\n`,
    exitCode: 2,
  });
  writeFileSync(join(folder, 'data', IDS_FILE), '# tickseal');
  t.match(await run(registerCheckConfig, 'check-config', file), {
    err: `${file}:2:12 storage.dir: ${join(folder, 'data', IDS_FILE)} is damaged`,
    exitCode: 2,
  });
});

test('a host that this machine does not have is named, and fails the check', async (t) => {
  const folder = t.testdir({
    // 192.0.2.0/24 (TEST-NET-1, RFC 5737): no machine has such an address.
    'config.yaml':
      'keys: { evm: { file: evm.hex } }\nlisten: { host: 192.0.2.7 }\nadmin: { host: nowhere.invalid }\n',
  });
  writeFileSync(join(folder, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  const file = join(folder, 'config.yaml');
  const { out, err, exitCode } = await run(registerCheckConfig, 'check-config', file);
  t.same({ out, exitCode }, { out: '', exitCode: 1 });
  t.match(err, `${file}:2:11 listen.host: no interface of this machine has the address of 192.0.2.7\n`);
  t.match(err, `${file}:3:10 admin.host: the name nowhere.invalid has no address\n`);
});

test('a damaged data folder is an error at its key', async (t) => {
  const folder = t.testdir({});
  const data = join(folder, 'data');
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `keys: { evm: { file: evm.hex } }\nstorage: { dir: ${data} }\n`);
  writeFileSync(join(folder, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  const store = await openStore(storeOptions(data));
  await store.marks.countStart();
  await store.close();
  const check = () => run(registerCheckConfig, 'check-config', file);
  t.same(await check(), { out: `${file}: ok\n`, err: '', exitCode: 0 });
  const segment = segmentPath(logFolderOf(data), 1);
  const bytes = readFileSync(segment);
  bytes[bytes.indexOf('starts')]! ^= 1;
  writeFileSync(segment, bytes);
  const { err, exitCode } = await check();
  t.equal(exitCode, 2);
  t.match(err, /^.*config\.yaml:2:12 storage\.dir: .*0001\.log is damaged at byte \d+\n$/);
});
