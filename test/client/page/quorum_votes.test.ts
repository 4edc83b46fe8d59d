import { test } from 'tap';
import { type OperatorVote, QuorumTick } from '../../../src/client/index.js';
import { medianOf, voteText } from '../../../src/client/page/quorum_votes.js';

const MAX_AGE_MS = 1_000;

test('a price is shown while enough operators agree, and never when it is too old', async (t) => {
  let nowMs = MAX_AGE_MS;
  const fields = { symbol: 'BTCUSD', price: 100n, timestampNs: 0n, signers: [], operators: [] };
  const tick = new QuorumTick({ ...fields, verdict: 'verified 2 of 3' }, () => nowMs);
  t.equal(medianOf(undefined, MAX_AGE_MS), undefined);
  t.equal(medianOf(tick, MAX_AGE_MS), 100n);
  nowMs += 1;
  t.equal(medianOf(tick, MAX_AGE_MS), undefined);
  t.equal(medianOf({ symbol: 'BTCUSD', cause: 'few', reason: '', operators: [] }, MAX_AGE_MS), undefined);
});

test('a vote has its reason in plain words', async (t) => {
  const vote = (verdict: OperatorVote['verdict'], reason: string) =>
    voteText({
      operator: 'a',
      verdict,
      reason,
      price: undefined,
      timestampNs: undefined,
      signer: undefined,
      url: undefined,
    });
  t.equal(vote('agrees', ''), 'agrees');
  t.equal(vote('differs', '5 % above the median'), 'deviates: 5 % above the median');
  t.equal(vote('refused', 'HTTP 503'), 'refuses the token: it is starting, overloaded or being changed');
  t.match(vote('down', 'Failed to fetch'), /^unreachable, or listen\.page_operators/);
});
