import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { freePorts } from '../../../src/cli/demo/free_ports.js';
import { pauseUnlessAborted, postCheckpoint } from '../../../src/publiclog/witness/post_checkpoint.js';
import { verifyByNode } from '../../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../../src/tlog/log_policy.js';
import { openCheckpoint } from '../../../src/tlog/open_checkpoint.js';
import { formatVerifierKey } from '../../../src/tlog/verifier_key.js';
import { WitnessSubmitter } from '../../../src/tlog/witness_submitter.js';
import { ROOT } from '../../pages.js';
import { PYTHON } from '../../tlog/judges.js';
import { SigningLog } from '../../tlog/signing_log.js';
import { LOG, LOG_ORIGIN, WITNESSES } from '../../tlog/witnessed_log.js';
import { emptyFolder } from './small_witness.js';

// Tests of the submitter with aics-witness, and of the witness with the client of aics-witness, including kill -9.
// TICKSEAL_TLOG_PYTHON names a Python with the package; scripts/tlog_python.sh makes one.

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
  const serve = () =>
    spawn(PYTHON, ['-m', 'aics_witness', 'serve', '--config', config, '--listen', `127.0.0.1:${port}`], {
      stdio: 'ignore',
    });
  await submitAll(t, serve, port, vkey);
});

test('our submitter and our witness: every checkpoint is cosigned, through kill -9', async (t) => {
  const { serve, port, vkey } = await ourWitness(t);
  await submitAll(t, serve, port, vkey);
});

test('the client of aics-witness and our witness', { skip }, async (t) => {
  const { serve, port, vkey } = await ourWitness(t);
  const witness = start(t, serve);
  await untilListening(port);
  const client = spawn(
    PYTHON,
    [join(ROOT, 'test/publiclog/witness/python/client.py'), `http://127.0.0.1:${port}`, vkey],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
  const sizes = [1, 2, 2, 40, 256, 257, 999];
  for (const [i, size] of sizes.entries()) {
    const older = sizes[i - 1] ?? 0;
    const proof = older === 0 || older === size ? [] : log.prove(BigInt(older), BigInt(size));
    const request = {
      note: log.note(size),
      older,
      proof: proof.map((hash) => Buffer.from(hash).toString('base64')),
    };
    client.stdin.write(`${JSON.stringify(request)}\n`);
    const { value } = await lines.next();
    t.match(value, '— w1.example ', `size ${size}`);
  }
  client.stdin.end();
  await once(client, 'exit');
  witness.kill('SIGTERM');
  t.same(await once(witness, 'exit'), [0, null], 'SIGTERM ends it');
});

/** Submits checkpoints to a witness that is killed and started again. */
async function submitAll(t: Test, serve: () => ChildProcess, port: number, vkey: string): Promise<void> {
  const policy = parsePolicy(`log ${LOG_VKEY}\nwitness W1 ${vkey} http://127.0.0.1:${port}\nquorum W1\n`);
  let witness = start(t, serve);
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
  let cosigned = 0;
  for (let size = 1; size <= SIZE; size += 1) {
    const killed = KILLS.includes(size);
    const submitted = submitter.submit(log.note(size), new AbortController().signal);
    if (killed) {
      witness.kill('SIGKILL');
      await once(witness, 'exit');
      witness = start(t, serve);
    }
    const { note, isQuorum } = await submitted;
    const { cosigners } = await openCheckpoint(note, policy, verifyByNode);
    if (isQuorum && cosigners.has('W1')) cosigned += 1;
  }
  t.equal(cosigned, SIZE);
  t.ok(
    faults.every((kind) => kind === 'unavailable'),
    String(new Set(faults)),
  );
  // The witness refuses a log that signs a different history, whatever proof it sends.
  const { isQuorum } = await submitter.submit(
    new SigningLog(SIZE, 3).note(SIZE),
    new AbortController().signal,
  );
  t.notOk(isQuorum);
  t.equal(faults.at(-1), 'forked');
  witness.kill('SIGKILL');
  await once(witness, 'exit');
}

/** Returns a function that starts our witness. The witness keeps its folder between starts. */
async function ourWitness(t: Test) {
  const dir = emptyFolder(t);
  const [port] = (await freePorts(1)) as [number];
  const { name, key } = WITNESSES[0]!;
  writeFileSync(
    join(dir, 'witness.yaml'),
    `name: ${name}
key: { env: WITNESS_KEY }
folder: state
listen: { port: ${port} }
admin: { port: 0 }
logs: [{ vkeys: ['${LOG_VKEY}'] }]
limits: { requests_per_second: 100000 }
`,
  );
  const serve = () =>
    spawn(
      process.execPath,
      [join(ROOT, 'dist/src/cli/main.js'), 'witness', '--config', join(dir, 'witness.yaml')],
      { stdio: 'ignore', env: { ...process.env, WITNESS_KEY: '01'.repeat(32) } },
    );
  return { serve, port, vkey: formatVerifierKey(key.witnessKey(name)) };
}

function start(t: Test, serve: () => ChildProcess): ChildProcess {
  const child = serve();
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (response !== undefined) return void (await response.text());
    await setTimeout(100);
  }
  throw new Error('the witness does not listen');
}
