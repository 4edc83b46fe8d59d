import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { registerCheckConfig } from '../../src/cli/check_config.js';
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
    err: `${file}:2:1 nope: unknown key\n${file}:3:10 admin.port: expected number, received string\n`,
    exitCode: 2,
  });
  t.match(run(registerCheckConfig, 'check-config', `${file}.nope`), {
    err: /cannot be read \(ENOENT\)/,
    exitCode: 2,
  });
});
