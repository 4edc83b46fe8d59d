import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { test } from 'tap';
import { freePorts } from '../../../src/cli/demo/free_ports.js';
import { pauseUnlessAborted, postCheckpoint } from '../../../src/publiclog/witness/post_checkpoint.js';
import { verifyByNode } from '../../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../../src/tlog/log_policy.js';
import { openCheckpoint } from '../../../src/tlog/open_checkpoint.js';
import { formatVerifierKey } from '../../../src/tlog/verifier_key.js';
import { WitnessSubmitter } from '../../../src/tlog/witness_submitter.js';
import { SigningLog } from '../../tlog/signing_log.js';
import { LOG, LOG_ORIGIN } from '../../tlog/witnessed_log.js';
import { emptyFolder } from './small_witness.js';

// A test of the submitter with aics-witness, including kill -9.
// TICKSEAL_TLOG_PYTHON names a Python with the package; scripts/python_packages.sh tlog makes one.

const PYTHON = process.env['TICKSEAL_TLOG_PYTHON'] ?? 'python3';
const skip =
  spawnSync(PYTHON, ['-c', 'import aics_witness'], { stdio: 'ignore' }).status !== 0 &&
  'Python or aics-witness is not here';
const LOG_VKEY = formatVerifierKey(LOG.logKey(LOG_ORIGIN));
const SIZE = 1_000;
const log = new SigningLog(SIZE);
/** The test kills the witness before it submits the checkpoints of these sizes. */
const KILLS = [150, 151, 430];

test('our submitter and aics-witness: every checkpoint is cosigned, through kill -9', { skip }, async (t) => {
  const dir = emptyFolder(t);
  const config = join(dir, 'witness.json');
  const run = (...args: string[]) =>
    execFileSync(PYTHON, ['-m', 'aics_witness', ...args, '--config', config], { encoding: 'utf8' });
  const vkey = run('init', '--name', 'other.example/w').trim().split('\n').at(-1)!;
  run('add-log', '--origin', LOG_ORIGIN, '--vkey', LOG_VKEY);
  const [port] = (await freePorts(1)) as [number];
  const start = () => {
    const args = ['-m', 'aics_witness', 'serve', '--config', config, '--listen', `127.0.0.1:${port}`];
    const child = spawn(PYTHON, args, { stdio: 'ignore' });
    t.teardown(() => child.kill('SIGKILL'));
    return child;
  };
  const policy = parsePolicy(`log ${LOG_VKEY}\nwitness W1 ${vkey} http://127.0.0.1:${port}\nquorum W1\n`);
  let witness = start();
  await untilListening(port);
  const faults: string[] = [];
  const submitter = new WitnessSubmitter({
    policy,
    post: postCheckpoint,
    prove: log.prove,
    verify: verifyByNode,
    nowMs: () => performance.now(),
    // Pauses are short, because the test itself waits for the process.
    sleep: (ms, signal) => pauseUnlessAborted(Math.min(ms, 100), signal),
    random: () => 0,
    onFault: (_, { kind }) => faults.push(kind),
  });
  const submit = (from: SigningLog, size: number) =>
    submitter.submit(from.note(size), new AbortController().signal);
  let cosigned = 0;
  for (let size = 1; size <= SIZE; size += 1) {
    const submitted = submit(log, size);
    if (KILLS.includes(size)) {
      witness.kill('SIGKILL');
      await once(witness, 'exit');
      witness = start();
    }
    const { note, isQuorum } = await submitted;
    const { cosigners } = await openCheckpoint(note, policy, verifyByNode);
    if (isQuorum && cosigners.has('W1')) cosigned += 1;
  }
  t.equal(cosigned, SIZE);
  t.same([...new Set(faults)], ['unavailable']);
  // The witness refuses a log that signs a different history, whatever proof it sends.
  t.notOk((await submit(new SigningLog(SIZE, 3), SIZE)).isQuorum);
  t.equal(faults.at(-1), 'forked');
  witness.kill('SIGKILL');
  await once(witness, 'exit');
});

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (response !== undefined) return void (await response.text());
    await setTimeout(100);
  }
  throw new Error('the witness does not listen');
}
