import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { findNatsServer } from '../../src/cli/demo/find_nats_server.js';
import { makeCertificate } from '../certificate.js';
import { needsNatsServer } from '../cluster/nats/servers.js';
import { ROOT } from '../pages.js';

const TEXT = readFileSync(join(ROOT, 'scripts/deploy/nats.conf'), 'utf8');

test('the configuration of the NATS servers is one', needsNatsServer(), async (t) => {
  const dir = t.testdir();
  const missing = makeCertificate(dir, 'server');
  if (missing !== undefined) return t.comment(`skipped: ${missing}`);
  mkdirSync(join(dir, 'store'));
  const check = (text: string) => {
    writeFileSync(join(dir, 'nats.conf'), text);
    return spawnSync(findNatsServer()!, ['-t', '-c', join(dir, 'nats.conf')], { encoding: 'utf8' });
  };
  const here = TEXT.replaceAll('/etc/nats/tls/ca.pem', join(dir, 'server.pem'))
    .replaceAll('/etc/nats/tls', dir)
    .replaceAll('/var/lib/nats', join(dir, 'store'));
  const { status, stderr } = check(here);
  t.equal(status, 0, stderr);
  t.not(check(here.replace('sync_interval', 'sink_interval')).status, 0, 'the server knows every key');
  t.match(TEXT, /^ {2}sync_interval: always$/m);
});
