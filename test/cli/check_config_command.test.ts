import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { test } from 'tap';
import { registerCheckConfig } from '../../src/cli/check_config_command.js';
import { openStore } from '../../src/store/store.js';
import { storeOptions } from '../store/sample.js';
import { run } from './run.js';

test('a file without errors is ok', async (t) => {
  const folder = t.testdir({ 'config.yaml': 'keys: { evm: { file: evm.hex } }\n' });
  writeFileSync(join(folder, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  const file = join(folder, 'config.yaml');
  t.same(run(registerCheckConfig, 'check-config', file), { out: `${file}: ok\n`, err: '', exitCode: 0 });
});

test('every error is printed and the exit status is 2', async (t) => {
  const file = join(
    t.testdir({ 'config.yaml': 'keys: { evm: { file: evm.hex } }\nnope: 1\nadmin: { port: x }\n' }),
    'config.yaml',
  );
  t.same(run(registerCheckConfig, 'check-config', file), {
    out: '',
    err: `${file}:2:1 nope: unknown key\n${file}:3:10 admin.port: expected a number, found "x"\n`,
    exitCode: 2,
  });
  t.match(run(registerCheckConfig, 'check-config', `${file}.nope`), {
    err: /cannot be read \(ENOENT\)/,
    exitCode: 2,
  });
});

test('warnings are printed and the file is ok', async (t) => {
  const folder = t.testdir({ 'config.yaml': 'keys: { evm: { file: evm.hex } }\nadmin: { host: "::" }\n' });
  writeFileSync(join(folder, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  const file = join(folder, 'config.yaml');
  t.match(run(registerCheckConfig, 'check-config', file), {
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
  t.same(run(registerCheckConfig, 'check-config', file), {
    out: '',
    err: `${file}:2:12 storage.dir: the data folder ${file} cannot be used: ${file} is not a folder\n`,
    exitCode: 2,
  });
});

test('a damaged data file is an error at its key', async (t) => {
  const folder = t.testdir({});
  const data = join(folder, 'data');
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `keys: { evm: { file: evm.hex } }\nstorage: { dir: ${data} }\n`);
  writeFileSync(join(folder, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  const store = await openStore(storeOptions(data));
  await store.marks.countStart();
  await store.close();
  const check = async (): Promise<string> => {
    const lines: string[] = [];
    const before = process.exitCode;
    const program = new Command().configureOutput({
      writeOut: (text) => lines.push(text),
      writeErr: (text) => lines.push(text),
    });
    registerCheckConfig(program);
    await program.parseAsync(['check-config', file], { from: 'user' });
    lines.push(String(process.exitCode ?? 0));
    process.exitCode = before;
    return lines.join('');
  };
  t.equal(await check(), `${file}: ok\n0`);
  const bytes = readFileSync(join(data, 'data.mdb'));
  bytes.fill(0xff, 2 * 4096);
  writeFileSync(join(data, 'data.mdb'), bytes);
  t.match(await check(), /^.*config\.yaml:2:12 storage\.dir: .*data\.mdb is damaged: .*\n2$/);
});
