import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { claimPort } from '../../src/server/uws/port_claim.js';
import { ServeProcess, writeConfig } from './child.js';

// Tests of the service's log. The log always consists of JSON lines with a level and a time.

const LEVELS = { info: 30, warn: 40, error: 50, fatal: 60 };

interface Line {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
}

function linesOf({ stdout }: ServeProcess): Line[] {
  return stdout.split('\n').map((line) => JSON.parse(line) as Line);
}

async function run(service: ServeProcess, file: string): Promise<void> {
  const valid = readFileSync(file, 'utf8');
  writeFileSync(file, '{');
  service.child.kill('SIGHUP');
  await service.line(/not valid/);
  writeFileSync(file, valid.replace('"storage"', '"limits":{"drain":"1s"},"storage"'));
  service.child.kill('SIGHUP');
}

/** Ignored lines: some depend on the user and the machine, and others are repeated each time the file is read. */
const ADVICE = /^(?:the (?:service runs as root|configuration: )|signatures use )/;

test('every line is JSON with a level, a time and a message', async (t) => {
  const file = writeConfig(t.testdir());
  const startMs = Date.now();
  const service = new ServeProcess(['--config', file], { TICKSEAL_LOG_LEVEL: 'trace' });
  t.teardown(() => service.kill());
  await service.ready();
  await run(service, file);
  await service.line(/was read again/);
  service.child.kill('SIGTERM');
  t.same(await service.exited, { code: 0, signal: null });
  const lines = linesOf(service);
  for (const { level, time, msg } of lines) {
    t.ok(Object.values(LEVELS).includes(level), `level ${level}: ${msg}`);
    t.ok(time >= startMs && time <= Date.now());
    t.ok(typeof msg === 'string' && msg.length > 0);
  }
  t.same(
    lines.filter(({ msg }) => !ADVICE.test(msg)).map(({ level }) => level),
    [LEVELS.info, LEVELS.error, LEVELS.warn, LEVELS.info, LEVELS.info],
    'ready, not valid, next start, read again, stopping',
  );
});

test('the level leaves out what is below it, and one that does not exist is an error', async (t) => {
  const dir = t.testdir();
  const admin = await claimPort({ host: '127.0.0.1', port: 0 });
  const file = writeConfig(dir, { admin: { port: admin } });
  const quiet = new ServeProcess(['--config', file], { TICKSEAL_LOG_LEVEL: 'error' });
  t.teardown(() => quiet.kill());
  await eventually(() =>
    fetch(`http://127.0.0.1:${admin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  await run(quiet, file);
  quiet.child.kill('SIGTERM');
  t.same(await quiet.exited, { code: 0, signal: null });
  t.match(linesOf(quiet), [{ level: LEVELS.error, msg: /not valid/ }]);
  t.equal(linesOf(quiet).length, 1);

  const wrong = new ServeProcess(['--config', file], { TICKSEAL_LOG_LEVEL: 'verbose' });
  t.teardown(() => wrong.kill());
  t.match(await wrong.exited, { code: 1 });
  t.equal(wrong.stderr, 'TICKSEAL_LOG_LEVEL is none of trace, debug, info, warn, error, fatal, silent\n');
});
