import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { registerCheckConfig } from '../../src/cli/check_config_command.js';
import { makeCertificate } from '../certificate.js';
import { run } from '../cli/run_command.js';
import { ServeProcess, writeConfig } from '../service/child.js';

const NEW_KEYS = { evm: Buffer.alloc(32, 0x23), stark: Buffer.alloc(32, 0x02) };
const OPEN_MODES = [0o640, 0o604, 0o660, 0o666, 0o601];

/** The secret files of the configuration. Each has the key of the configuration that an error about the file names. */
const SECRET_FILES = [
  ['evm.hex', 'keys.evm.file'],
  ['stark.hex', 'keys.stark.file'],
  ['tls.key', 'listen.tls.key_file'],
] as const;

function writeWithTls(t: Test, dir: string): string | undefined {
  const missing = makeCertificate(dir, 'tls');
  if (missing !== undefined) {
    t.comment(`skipped: ${missing}`);
    return undefined;
  }
  const tls = { cert_file: join(dir, 'tls.pem'), key_file: join(dir, 'tls.key') };
  return writeConfig(dir, { listen: { port: 0, tls } });
}

test('a secret file that others can read is refused by check-config and at the start', async (t) => {
  const dir = t.testdir();
  const file = writeWithTls(t, dir);
  if (file === undefined) return;
  for (const [name, path] of SECRET_FILES) {
    const refusal = new RegExp(`${path.replaceAll('.', '\\.')}: .*${name} is open to its group or to others`);
    for (const mode of OPEN_MODES) {
      chmodSync(join(dir, name), mode);
      t.match(await run(registerCheckConfig, 'check-config', file), { exitCode: 2, err: refusal }, name);
    }
    const service = new ServeProcess(['--config', file]);
    t.teardown(() => service.kill());
    t.match(await service.exited, { code: 2 });
    t.match(service.stderr, refusal);
    t.equal(service.stdout, '');
    chmodSync(join(dir, name), 0o600);
  }
  t.match(await run(registerCheckConfig, 'check-config', file), { exitCode: 0, out: /ok/ });
});

test('a reload that finds a secret file open to others changes nothing', async (t) => {
  const dir = t.testdir();
  const file = writeWithTls(t, dir);
  if (file === undefined) return;
  const service = new ServeProcess(['--config', file]);
  t.teardown(() => service.kill());
  await service.ready();
  for (const [name, path] of SECRET_FILES) {
    const secret = join(dir, name);
    const before = readFileSync(secret);
    if (name !== 'tls.key') writeFileSync(secret, NEW_KEYS.evm.toString('hex'));
    chmodSync(secret, 0o644);
    service.child.kill('SIGHUP');
    const line = JSON.parse(await service.line(new RegExp(`${path}: .*open to its group or to others`)));
    t.match(line, { level: 50, msg: 'the configuration is not valid; nothing was changed' });
    writeFileSync(secret, before);
    chmodSync(secret, 0o600);
  }
  t.notMatch(service.stdout, 'was read again');
  service.child.kill('SIGHUP');
  await service.line(/was read again/);
});
