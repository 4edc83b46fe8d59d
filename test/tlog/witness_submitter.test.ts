import { test } from 'tap';
import { verifyByNode } from '../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../src/tlog/log_policy.js';
import { openCheckpoint } from '../../src/tlog/open_checkpoint.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import type { PostToWitness, WitnessAnswer } from '../../src/tlog/witness_line.js';
import { type WitnessFault, WitnessSubmitter } from '../../src/tlog/witness_submitter.js';
import { SigningLog } from './signing_log.js';
import { LOG, LOG_ORIGIN, WITNESSES } from './witnessed_log.js';

const log = new SigningLog(60);
const POLICY = parsePolicy(
  `log ${formatVerifierKey(LOG.logKey(LOG_ORIGIN))}
${WITNESSES.map(({ name, key }, i) => `witness W${i + 1} ${formatVerifierKey(key.witnessKey(name))} http://w${i + 1}.test/sub/`).join('\n')}
group G 2 W1 W2 W3
quorum G
`,
);

/** The answers of each witness by its number, from 1, and the requests in order of arrival. */
type Answering = (number: number, body: string) => Partial<WitnessAnswer> | Promise<Partial<WitnessAnswer>>;

/** @param sleepsMax the pauses of all witnesses after which `signal` aborts */
function submitterOf(answering: Answering, sleepsMax = 1_000) {
  const stop = new AbortController();
  let [nowMs, sleeps] = [0, 0];
  const faults: [string, WitnessFault][] = [];
  const requests: string[] = [];
  const post: PostToWitness = async (url, body, signal) => {
    const [, number = ''] = /^http:\/\/w(\d)\.test\/sub\/add-checkpoint$/.exec(url) ?? [];
    requests.push(`${number} ${body.split('\n')[0]}`);
    if (signal.aborted) throw new Error('aborted');
    const answer = await answering(Number(number), body);
    return { status: 200, body: new Uint8Array(), ...answer };
  };
  const submitter = new WitnessSubmitter({
    policy: POLICY,
    post,
    prove: log.prove,
    verify: verifyByNode,
    nowMs: () => nowMs,
    sleep: async (ms, signal) => {
      nowMs += ms;
      await new Promise((resolve) => setImmediate(resolve));
      sleeps += 1;
      if (!signal.aborted && sleeps >= sleepsMax) stop.abort();
    },
    random: () => 1,
    onFault: ({ name }, fault) => faults.push([name, fault]),
  });
  return { submitter, faults, requests, signal: stop.signal, passed: () => nowMs };
}

function cosigned(number: number, body: string): Partial<WitnessAnswer> {
  const { key, name } = WITNESSES[number - 1]!;
  const note = body.slice(body.indexOf('\n\n') + 2);
  const text = note.slice(0, note.indexOf('\n\n') + 1);
  const { blob, keyId } = key.cosign(name, text, 1_000n);
  const id = Buffer.alloc(4);
  id.writeUInt32BE(keyId);
  return { body: Buffer.from(`— ${name} ${Buffer.concat([id, blob]).toString('base64')}\n`) };
}

test('all witnesses cosign: the note verifies, and the next checkpoint is proven from the last', async (t) => {
  const { submitter, requests } = submitterOf(cosigned);
  const quorums: boolean[] = [];
  const { note, isQuorum } = await submitter.submit(log.note(20), never(), ({ isQuorum }) =>
    quorums.push(isQuorum),
  );
  t.same(quorums, [false, true, true]);
  t.ok(isQuorum);
  const { cosigners } = await openCheckpoint(note, POLICY, verifyByNode);
  t.same(cosigners, new Map(['W1', 'W2', 'W3'].map((name) => [name, 1_000n])));
  await submitter.submit(log.note(30), never());
  t.same(requests, ['1 old 0', '2 old 0', '3 old 0', '1 old 20', '2 old 20', '3 old 20']);
  t.match(submitter.witnesses[0], { name: 'W1', size: 30n, timeS: 1_000n, fault: undefined });
});

test('an answer 409 is followed, and a larger tree is reported', async (t) => {
  const { submitter, faults, requests, signal } = submitterOf((number, body) => {
    const older = body.split('\n')[0]!;
    if (number === 1)
      return older === 'old 12' ? cosigned(1, body) : { status: 409, body: Buffer.from('12\n') };
    if (number === 2) return { status: 409, body: Buffer.from('45\n') };
    return { status: 409, body: Buffer.from('twelve\n') };
  }, 20);
  const { isQuorum } = await submitter.submit(log.note(20), signal);
  t.notOk(isQuorum);
  t.same(requests.slice(0, 4).toSorted(), ['1 old 0', '1 old 12', '2 old 0', '3 old 0']);
  const faultOf = (wanted: string) => faults.find(([name]) => name === wanted)?.[1];
  t.same(faultOf('W2'), { kind: 'larger', size: 45n });
  t.match(faultOf('W3'), { kind: 'unavailable', reason: /409/ });
});

test('refusals end the attempts, and other faults pause them, longer each time', async (t) => {
  let failures = 0;
  const { submitter, faults, passed } = submitterOf((number, body) => {
    if (number === 1) return { status: 422, body: Buffer.from('no\u0007proof\n') };
    if (number === 2) return { status: 404 };
    failures += 1;
    if (failures === 1) return { status: 429, retryAfterS: 7 };
    if (failures === 2) throw new Error('no answer within 10 s');
    if (failures === 3) return { body: Buffer.from('— w9.example AAAAAAAA\n') };
    if (failures === 4) return cosigned(3, body.replace('\n20\n', '\n21\n'));
    return cosigned(3, body);
  });
  const { isQuorum, note } = await submitter.submit(log.note(20), never());
  t.notOk(isQuorum);
  t.match(note, '— w3.example ');
  t.same(faults.slice(0, 2), [
    ['W1', { kind: 'forked', reason: 'it answers 422: no proof' }],
    ['W2', { kind: 'refused', status: 404, reason: 'it answers 404' }],
  ]);
  t.same(
    faults.slice(2).map(([, { kind }]) => kind),
    Array(4).fill('unavailable'),
  );
  t.ok(passed() >= 7_000 + 2_000 + 4_000 + 8_000, String(passed()));
});

test('a bare 409 to the size that was cosigned last means another tree', async (t) => {
  let count = 0;
  const { submitter, faults } = submitterOf((number, body) => {
    count += 1;
    return count > 3 ? { status: 409 } : cosigned(number, body);
  });
  await submitter.submit(log.note(20), never());
  await submitter.submit(new SigningLog(60, 1).note(20), never());
  t.same(
    faults.map(([name, { kind }]) => `${name} ${kind}`),
    ['W1 forked', 'W2 forked', 'W3 forked'],
  );
});

function never(): AbortSignal {
  return new AbortController().signal;
}
