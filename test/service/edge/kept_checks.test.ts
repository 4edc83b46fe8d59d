import { test } from 'tap';
import { AnswerLines, decodeAnswer, type ReceivedLine } from '../../../src/log/past/past_answer.js';
import { KeptChecks } from '../../../src/service/edge/kept_verifier.js';
import { entryOf, SERVICE_ORACLE_ID, signedAggregates } from '../../log/past/signed_past.js';

const NAME = { symbol: 'BTCUSD', signatureType: 'evm' } as const;

test('inputs that aggregates share are checked once, and each aggregate against them', async (t) => {
  const signed = (await signedAggregates(NAME, 1_772_460_000_000_000_000n, 4)).map(entryOf);
  const entries = received(signed);
  const [first, second, third] = entries.map(({ aggregate }) => aggregate.inputs);
  t.ok(first === second && second === third, 'successive aggregates share an array');
  const checks = newChecks();
  t.same(
    entries.map((entry) => checks.jobsOf(entry).length),
    [4, 1, 1, 2],
    'a job for each new signature',
  );
  for (const [changed, message] of [
    [{ merkleRoot: Buffer.alloc(32, 1) }, /msg_hash/],
    [{ timestampNs: entries[1]!.aggregate.timestampNs - 1n }, /newest time/],
    [{ inputs: [...first!, first![0]!] }, /publisher is repeated/],
    [{ inputs: [{ ...first![0]!, price: first![0]!.price + 1n }, ...first!.slice(1)] }, /another price/],
    [{ inputs: first!.slice(1) }, /Merkle root|newest time/],
  ] as const) {
    const entry = { ...entries[1]!, aggregate: { ...entries[1]!.aggregate, ...changed } } as ReceivedLine;
    const after = newChecks();
    after.jobsOf(entries[0]!);
    t.throws(() => after.jobsOf(entry), { name: 'NotVerified', message }, 'after the aggregate before');
    t.throws(() => newChecks().jobsOf(entry), { name: 'NotVerified', message }, 'alone');
  }
});

test('the hash of an aggregate is checked', async (t) => {
  const [own] = (await signedAggregates(NAME, 1_772_460_000_000_000_000n, 1)).map(entryOf);
  const wrong = { ...own!, aggregate: { ...own!.aggregate, msgHash: Buffer.alloc(32, 1) } };
  t.doesNotThrow(() => newChecks().jobsOf(own!));
  t.throws(() => newChecks().jobsOf(wrong), { name: 'NotVerified', message: /msg_hash/ });
});

function received(entries: readonly ReceivedLine[]): ReceivedLine[] {
  const lines = new AnswerLines();
  for (const entry of entries) lines.add(NAME, entry);
  const answer = decodeAnswer(lines.take(0n));
  return answer.state === 'kept' ? [...answer.entries].map(([, entry]) => entry as ReceivedLine) : [];
}

function newChecks(): KeptChecks {
  return new KeptChecks({ oracleId: SERVICE_ORACLE_ID, isSigner: () => true });
}
