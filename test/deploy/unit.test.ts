import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'tap';
import { UNIT_STOP_SECONDS } from '../../src/config/limit_warnings.js';
import { ROOT, readPage } from '../pages.js';
import { isInstalled } from './prometheus.js';

const UNIT = join(ROOT, 'scripts/deploy/tickseal.service');
const SOURCES_UNIT = join(ROOT, 'scripts/deploy/tickseal-sources.service');
const BACKUP_UNIT = join(ROOT, 'scripts/deploy/tickseal-backup.service');
const NATS_UNIT = join(ROOT, 'scripts/deploy/nats-server.service');
const WITNESS_UNIT = join(ROOT, 'scripts/deploy/tickseal-witness.service');

/** The largest allowed exposure, from 0 (least exposed) to 10. */
const EXPOSURE_MAX = 1.5;

test('the units are valid and as little exposed as the page says', async (t) => {
  if (!isInstalled('systemd-analyze')) {
    t.pass('skipped: there is no systemd-analyze');
    return;
  }
  for (const unit of [UNIT, SOURCES_UNIT, WITNESS_UNIT, BACKUP_UNIT, NATS_UNIT]) {
    const name = basename(unit);
    const file = join(t.testdir(), name);
    // The programs that the unit names may be in other folders on this machine.
    const text = readFileSync(unit, 'utf8').replace(
      /\/usr\/bin\/node|\/usr\/local\/bin\/nats-server/g,
      process.execPath,
    );
    writeFileSync(file, text);
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    t.notMatch(verified.stdout + verified.stderr, name, 'nothing is wrong with it');
    if (unit === NATS_UNIT) continue;
    const security = execFileSync('systemd-analyze', ['security', '--offline=yes', file], {
      encoding: 'utf8',
    });
    const [, exposure] = /exposure level for tickseal[\w-]*\.service: ([\d.]+)/.exec(security) ?? [];
    t.ok(Number(exposure) <= EXPOSURE_MAX, `${name}: ${exposure}`);
    if (unit === UNIT) t.match(readPage('scripts/deploy/README.md'), `exposure is ${exposure} of 10`);
  }
});

test('the commands of the unit are those of the program', async (t) => {
  const text = readFileSync(UNIT, 'utf8');
  t.match(text, /^ExecStart=\S+ \S+\/dist\/src\/cli\/main\.js serve --config \S+\.yaml$/m);
  t.match(text, /^ExecReload=\S+ \S+\/dist\/src\/cli\/main\.js reload \S+\.yaml --pid \$MAINPID$/m);
  t.notMatch(text, /^ExecStartPre=/m, 'systemd tries a start again after its failure, whatever the status');
  t.match(text, /^RestartPreventExitStatus=2$/m);
  t.match(text, `\nTimeoutStopSec=${UNIT_STOP_SECONDS}\n`);
  const config = readFileSync(join(ROOT, 'scripts/deploy/tickseal.yaml'), 'utf8');
  t.match(text, `\nReadWritePaths=${/^ {2}dir: (\S+)/m.exec(config)?.[1]}\n`);
});

test('the unit for two instances takes over, and differs from the other one in nothing else', async (t) => {
  const [, program = ''] = / sed '([^']*)' tickseal\.service > tickseal@\.service$/m.exec(
    readPage('scripts/deploy/README.md'),
  )!;
  const lines = execFileSync('sed', [program, UNIT], { encoding: 'utf8' }).split('\n');
  const before = readFileSync(UNIT, 'utf8').split('\n');
  const main = '/usr/bin/node /opt/tickseal/dist/src/cli/main.js';
  t.same(
    lines.filter((line, i) => line !== before[i]),
    [`ExecStart=${main} serve --config /etc/tickseal/tickseal.yaml --take-over`],
  );
});
