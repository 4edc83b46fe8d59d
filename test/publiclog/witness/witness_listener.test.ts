import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { listenForMetrics } from '../../../src/cli/metrics_listener.js';
import { pauseUnlessAborted, postCheckpoint } from '../../../src/publiclog/witness/post_checkpoint.js';
import { RunningWitness } from '../../../src/publiclog/witness/run_witness.js';
import { loadWitnessConfig } from '../../../src/publiclog/witness/witness_config.js';
import { originHash } from '../../../src/publiclog/witness/witness_folder.js';
import { ADD_CHECKPOINT_BYTES_MAX, formatAddCheckpoint } from '../../../src/tlog/add_checkpoint.js';
import { verifyByNode } from '../../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../../src/tlog/log_policy.js';
import { formatVerifierKey } from '../../../src/tlog/verifier_key.js';
import { WitnessSubmitter } from '../../../src/tlog/witness_submitter.js';
import { SigningLog } from '../../tlog/signing_log.js';
import { LOG, LOG_ORIGIN, WITNESSES } from '../../tlog/witnessed_log.js';
import { emptyFolder } from './small_witness.js';

const log = new SigningLog(40);
const { name: NAME, key: KEY } = WITNESSES[0]!;
const LOG_VKEY = formatVerifierKey(LOG.logKey(LOG_ORIGIN));

/** Returns a configuration with the key of the first witness. */
function yaml(more = ''): string {
  return `name: ${NAME}
key: { env: WITNESS_KEY }
folder: state
listen: { port: 0, submission_prefix: /sub, monitoring_prefix: /mon }
admin: { port: 0 }
${more || `logs:\n  - { vkeys: ['${LOG_VKEY}'], qpd: 100 }\n`}`;
}

function configOf(t: Test, content: string, env: Record<string, string> = { WITNESS_KEY: '01'.repeat(32) }) {
  const dir = emptyFolder(t);
  const file = join(dir, 'witness.yaml');
  writeFileSync(file, content);
  return loadWitnessConfig(file, env);
}

async function start(t: Test, steadyMs = () => performance.now()): Promise<RunningWitness> {
  const limits = 'limits: { requests_per_second: 50, connections_per_address: 32 }';
  const loaded = configOf(t, yaml(`logs:\n  - { vkeys: ['${LOG_VKEY}'], qpd: 100 }\n${limits}\n`));
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const config = { ...loaded.config, folder: emptyFolder(t) };
  const witness = await RunningWitness.open(
    {
      config,
      logger: pino({ level: 'silent' }),
      nowMs: Date.now,
      steadyMs,
      listenForOperator: listenForMetrics,
    },
    { release: async () => {} },
  );
  t.teardown(() => witness.close());
  return witness;
}

test('a log submits over HTTP, and readers see the cosigned checkpoint', async (t) => {
  const { port, adminPort } = await start(t);
  const url = `http://127.0.0.1:${port}`;
  const witnessVkey = formatVerifierKey(KEY.witnessKey(NAME));
  const policy = parsePolicy(`log ${LOG_VKEY}\nwitness W1 ${witnessVkey} ${url}/sub\nquorum W1\n`);
  const faults: unknown[] = [];
  const submitter = new WitnessSubmitter({
    policy,
    post: postCheckpoint,
    prove: log.prove,
    verify: verifyByNode,
    nowMs: () => performance.now(),
    sleep: pauseUnlessAborted,
    random: Math.random,
    onFault: (_, fault) => faults.push(fault),
  });
  const monitored = `${url}/mon/${originHash(LOG_ORIGIN)}/checkpoint`;
  t.equal((await fetch(monitored)).status, 404, 'nothing is cosigned');
  for (const size of [1, 7, 7, 40]) {
    const { note, isQuorum } = await submitter.submit(log.note(size), new AbortController().signal);
    t.ok(isQuorum, `size ${size}`);
    const response = await fetch(monitored);
    t.equal(await response.text(), note);
    t.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
  }
  t.same(faults, []);
  const post = (path: string, body: string) => fetch(`${url}${path}`, { method: 'POST', body });
  const older = formatAddCheckpoint({ older: 3n, proof: [], note: log.note(40) });
  const conflict = await post('/sub/add-checkpoint', older);
  t.equal(conflict.status, 409);
  t.equal(conflict.headers.get('content-type'), 'text/x.tlog.size');
  t.equal(await conflict.text(), '40\n');
  t.equal((await post('/add-checkpoint', '')).status, 404, 'without the prefix');
  t.equal((await fetch(`${url}/sub/add-checkpoint`)).status, 405);
  t.equal((await post('/sub/add-checkpoint', 'x'.repeat(ADD_CHECKPOINT_BYTES_MAX + 1))).status, 413);

  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  t.match(metrics, `tickseal_witness_size{origin="${LOG_ORIGIN}"} 40\n`);
  t.match(metrics, `tickseal_witness_answers_total{origin="${LOG_ORIGIN}",status="200"} 4\n`);
  t.match(metrics, 'tickseal_witness_refused_requests_total{status="413"} 1\n');
});

test('malformed requests and too many end at the sender', async (t) => {
  const { port } = await start(t, () => 0);
  const socket = connect(port, '127.0.0.1');
  const answer = text(socket);
  socket.write(
    'POST /sub/add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n',
  );
  t.match(await answer, /^HTTP\/1.1 400 /);
  const statuses: number[] = [];
  for (let i = 0; i < 60; i += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    await response.text();
    statuses.push(response.status);
  }
  t.same(statuses, [...Array(50).fill(404), ...Array(10).fill(429)]);

  const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'));
  t.teardown(() => {
    for (const one of sockets) one.destroy();
  });
  const last = sockets.slice(32).map((one) => text(one));
  for (const refused of await Promise.all(last))
    t.match(refused, /too many connections from this address\n$/);
});

test('a configuration names every error with its place', async (t) => {
  t.ok(configOf(t, yaml()).ok);
  const errorsOf = (content: string, env?: Record<string, string>) => {
    const loaded = configOf(t, content, env);
    return loaded.ok ? [] : loaded.errors.map((line) => line.replace(/^.*witness\.yaml:/, ''));
  };
  t.match(errorsOf(yaml(), {}), [/^2:\d+ key.env: the variable WITNESS_KEY is not set/]);
  const witnessVkey = formatVerifierKey(KEY.witnessKey(NAME));
  t.match(errorsOf(yaml(`logs:\n  - { vkeys: ['${witnessVkey}'] }\n`)), [
    /logs\[0\].vkeys\[0\]: .* is a witness's/,
  ]);
  t.match(errorsOf(yaml(`logs:\n  - { vkeys: ['${LOG_VKEY}'], qpd: 0, rate: 1 }\n`)), [
    /qpd/,
    /rate: unknown key/,
  ]);
});
