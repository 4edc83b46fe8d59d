import { test } from 'tap';
import { verifyByNode } from '../../src/tlog/ed25519_key.js';
import { type LogPolicy, parsePolicy } from '../../src/tlog/log_policy.js';
import { openCheckpoint, requireQuorum } from '../../src/tlog/open_checkpoint.js';
import { formatNote, type NoteSignature } from '../../src/tlog/signed_note.js';
import { formatCheckpoint } from '../../src/tlog/tree_checkpoint.js';
import { emptyRoot } from '../../src/tlog/tree_hash.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import { LOG, LOG_ORIGIN, policyText, WITNESSES } from './witnessed_log.js';

const [w1, w2] = WITNESSES.map(({ key, name }) => formatVerifierKey(key.witnessKey(name)));
const log = formatVerifierKey(LOG.logKey(LOG_ORIGIN));
const suffices = (policy: LogPolicy, ...names: string[]) => policy.isQuorum(new Set(names));

test('a policy names logs, witnesses, groups and the quorum', async (t) => {
  const policy = parsePolicy(policyText('group G 2 W1 W2 W3\nquorum G'));
  t.equal(policy.logs[0]?.key.name, LOG_ORIGIN);
  t.notOk(suffices(policy, 'W1'));
  t.notOk(suffices(policy, 'W1', 'W4'));
  t.ok(suffices(policy, 'W1', 'W3'));
  const nested = parsePolicy(policyText('group A any W1 W2\ngroup B all A W3\nquorum B'));
  t.notOk(suffices(nested, 'W1', 'W2'));
  t.ok(suffices(nested, 'W2', 'W3'));
  const spaced = parsePolicy(`# comment\n\n \t log\t${log}   https://log.example/ \n\tquorum none `);
  t.equal(spaced.logs[0]?.url, 'https://log.example/');
  t.ok(suffices(spaced));
});

test('a faulty policy is refused with its line', async (t) => {
  for (const [text, message] of [
    ['# only\n', 'the policy has no quorum line'],
    ['quorum none\nquorum none', 'line 2 of the policy: there is a second quorum line'],
    ['quorum A', 'line 1 of the policy: A is not defined above'],
    ['quorum none x', 'line 1 of the policy: quorum needs a single name'],
    ['log', 'line 1 of the policy: a key is missing'],
    ['log x', 'line 1 of the policy: "x" is not a verifier key'],
    [`log ${log} url more`, 'line 1 of the policy: "more" is too much'],
    [`log ${w1}`, 'line 1 of the policy: the key of w1.example has type 4, which is not supported here'],
    [
      `witness A ${log}`,
      `line 1 of the policy: the key of ${LOG_ORIGIN} has type 1, which is not supported here`,
    ],
    [`log ${log}\nlog ${log}`, `line 2 of the policy: the key of ${LOG_ORIGIN} is already in the policy`],
    [`witness A ${w1}\nwitness A ${w2}`, 'line 2 of the policy: A is already defined'],
    [`witness none ${w1}`, 'line 1 of the policy: none is already defined'],
    [`witness A ${w1}\ngroup G any`, 'line 2 of the policy: a group needs a name, a threshold and members'],
    [`witness A ${w1}\ngroup G 2 A`, 'line 2 of the policy: the threshold 2 is not any, all or 1 to 1'],
    [`witness A ${w1}\ngroup G 0 A`, 'line 2 of the policy: the threshold 0 is not any, all or 1 to 1'],
    [`witness A ${w1}\ngroup G any A A`, 'line 2 of the policy: A is already in a group'],
    [`witness A ${w1}\ngroup G any none`, 'line 2 of the policy: none is not defined above'],
    ['Quorum none', 'line 1 of the policy: "Quorum" is not log, witness, group or quorum'],
    ['quorum none\r', 'line 1 of the policy: there is a control character'],
  ] as const)
    t.throws(() => parsePolicy(text), { name: 'TlogError', message }, text);
  const renamed = formatVerifierKey(WITNESSES[0]!.key.witnessKey('other.example'));
  t.throws(
    () => parsePolicy(`witness A ${w1}\nwitness B ${renamed}\ngroup G 2 A B\nquorum G`),
    { message: 'line 2 of the policy: the key of other.example is already in the policy' },
    'one key is not two witnesses',
  );
});

test('a checkpoint needs its log, and the quorum of the policy', async (t) => {
  const text = formatCheckpoint({ origin: LOG_ORIGIN, size: 0n, root: emptyRoot() });
  const signature = LOG.sign(LOG_ORIGIN, text);
  const [first, second] = WITNESSES.map(({ key, name }) => key.cosign(name, text, 100n));
  const policy = parsePolicy(policyText('group G 2 W1 W2 W3\nquorum G'));
  const open = (...signatures: NoteSignature[]) =>
    openCheckpoint(formatNote({ text, signatures }), policy, verifyByNode);
  const both = await open(signature, first!, second!, WITNESSES[0]!.key.cosign('w1.example', text, 90n));
  const latest = new Map([
    ['W1', 100n],
    ['W2', 100n],
  ]);
  t.same(both.cosigners, latest, 'the latest of each witness');
  requireQuorum(both, policy);
  const one = await open(signature, first!, first!);
  t.throws(() => requireQuorum(one, policy), /cosigned by W1, which is not the policy's quorum/);
  await t.rejects(open(first!, second!), { message: `the log ${LOG_ORIGIN} has not signed the checkpoint` });
  const foreign = WITNESSES[1]!.key.sign(LOG_ORIGIN, text);
  await t.rejects(open(foreign, first!, second!), { name: 'TlogError' }, 'the name of the log, another key');
  await t.rejects(open(signature, { ...first!, blob: second!.blob }), {
    message: 'the signature of w1.example does not verify',
  });
  const other = formatCheckpoint({ origin: 'other.example/log', size: 0n, root: emptyRoot() });
  const note = formatNote({ text: other, signatures: [LOG.sign(LOG_ORIGIN, other)] });
  await t.rejects(openCheckpoint(note, policy, verifyByNode), {
    message: 'the policy does not name the log other.example/log',
  });
});
