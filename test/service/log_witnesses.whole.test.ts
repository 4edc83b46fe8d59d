import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerBackup } from '../../src/cli/backup_command.js';
import { freePorts } from '../../src/cli/demo/free_ports.js';
import { parsePolicy } from '../../src/tlog/log_policy.js';
import { runCommand } from '../cli/run_command.js';
import { emptyFolder } from '../publiclog/witness/small_witness.js';
import { SERVICE_KEYS, startTestService, type TestService } from './harness.js';
import { cosignedBy, LOGS, WitnessProcess } from './witness_process.js';

// Tests of services with a public log, and of witnesses in separate processes.

function sectionsOf(dir: string, number: number, log: object) {
  const { origin } = LOGS[number]!;
  const file = { file: 'unused' };
  return {
    storage: { dir: join(dir, 'data') },
    keys: { evm: file, stark: file, log: file },
    log: { origin, batch: '100ms', checkpoint: '200ms', policy: { file: join(dir, 'log.policy') }, ...log },
  };
}

/** Starts the service of an operator, whose policy is in the folder. */
function startLog(t: Test, dir: string, number: number, log: object = {}): Promise<TestService> {
  const { seed } = LOGS[number]!;
  return startTestService(t, sectionsOf(dir, number, log), {
    dir: join(dir, 'data'),
    keys: { ...SERVICE_KEYS, log: seed },
  });
}

function writePolicy(dir: string, number: number, witnesses: readonly WitnessProcess[], quorum: string) {
  const text = `log ${LOGS[number]!.vkey}\n${witnesses.map(({ line }) => `${line}\n`).join('')}${quorum}\n`;
  writeFileSync(join(dir, 'log.policy'), text);
  return parsePolicy(text);
}

test('a backup of a running service goes on where no later checkpoint was cosigned', async (t) => {
  const dir = emptyFolder(t);
  const ports = await freePorts(2);
  const witnesses = ports.map((port, i) => new WitnessProcess(t, dir, i + 1, port));
  const policy = writePolicy(dir, 0, witnesses, 'group G 2 W1 W2\nquorum G');
  for (const witness of witnesses) witness.start();
  let service = await startLog(t, dir, 0, { witness_grace: '1s' });
  const data = join(dir, 'data');
  const backup = async (name: string) => {
    const made = await runCommand(registerBackup, ['backup', join(dir, name), '--from', data]);
    t.match(made.stdout.join(''), /checked: .*, tlog, tlog-state/, made.stderr);
  };
  const restore = async (name: string) => {
    await service.stop();
    rmSync(data, { recursive: true });
    cpSync(join(dir, name), data, { recursive: true });
    service = await startLog(t, dir, 0, { witness_grace: '1s' });
  };
  const readiness = async () => (await fetch(`${service.adminUrl}/readyz`)).text();
  const size = await cosignedBy(service, policy, ['W1', 'W2']);
  await backup('early');
  // The log goes on during the backup, so the copy may have more batches than the checkpoint before it.
  const served = await cosignedBy(service, policy, ['W1', 'W2'], size);
  await cosignedBy(service, policy, ['W1', 'W2'], served + 5n);
  await service.stop();
  await backup('last');
  mkdirSync(join(dir, 'other/tlog'), { recursive: true });
  const other = await runCommand(registerBackup, ['backup', join(dir, 'other'), '--from', data]);
  t.match(other.stderr, /other has a tlog already: name another folder/);

  await restore('early');
  const reason = await eventually(async () => /has cosigned \d+ batches/.exec(await readiness())?.[0]);
  t.match(reason, /cosigned/, 'the witnesses have seen more than the early copy has');

  for (const witness of witnesses) await witness.kill();
  await restore('last');
  await wait(2_000);
  const before = await (await fetch(`${service.url}/tlog/checkpoint`)).text();
  t.equal(
    before,
    readFileSync(join(dir, 'last/tlog/checkpoint'), 'utf8'),
    'without answers nothing new is signed',
  );
  for (const witness of witnesses) witness.start();
  const after = await cosignedBy(service, policy, ['W1', 'W2'], BigInt(before.split('\n')[1]!));
  t.ok(after > size, 'the last copy goes on when its witnesses answer');
  await service.stop();
  service = await startLog(t, dir, 0, { witness_grace: '1s' });
  await cosignedBy(service, policy, ['W1', 'W2'], after);

  await backup('alone');
  writeFileSync(join(dir, 'log.policy'), `log ${LOGS[0]!.vkey}\nquorum none\n`);
  await restore('alone');
  t.match(await readiness(), /is a copy of .*no witness that could say .*tickseal log new-origin/);
});
