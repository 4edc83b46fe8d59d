import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { makeCertificate } from '../certificate.js';
import { ROOT } from '../pages.js';

const MAIN = join(ROOT, 'dist/src/cli/main.js');

test('the configuration for production is valid, without a warning', async (t) => {
  const dir = t.testdir({ tls: {}, keys: {} });
  const missing = makeCertificate(join(dir, 'tls'), 'service');
  if (missing !== undefined) {
    t.pass(`skipped: ${missing}`);
    return;
  }
  execFileSync(process.execPath, [MAIN, 'keygen', 'evm', '--out', join(dir, 'keys/evm.hex')]);
  execFileSync(process.execPath, [MAIN, 'keygen', 'stark', '--out', join(dir, 'keys/stark.hex')]);
  mkdirSync(join(dir, 'store'), { mode: 0o700 });
  const text = readFileSync(join(ROOT, 'scripts/deploy/tickseal.yaml'), 'utf8')
    .replace('tls/fullchain.pem', 'tls/service.pem')
    .replace('tls/privkey.pem', 'tls/service.key')
    .replace('/var/lib/tickseal', join(dir, 'store'));
  t.notMatch(text, /^[^#]*: \/(?:etc|var|run)\//m, 'every path is replaced');
  const file = join(dir, 'tickseal.yaml');
  writeFileSync(file, text);
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, 'check-config', file], {
    encoding: 'utf8',
  });
  t.same({ stdout, stderr, status }, { stdout: `${file}: ok\n`, stderr: '', status: 0 });
});
