import { test } from 'tap';
import { type OperatorVote, QuorumTick, type VoteVerdict } from '../../../src/client/index.js';
import { QuorumBoard, voteText } from '../../../src/client/page/quorum_board.js';

const OPERATORS = ['a', 'b', 'c'];
const MAX_AGE_MS = 1_000;
let nowMs = 0;

function votesOf(verdicts: readonly VoteVerdict[], reason = 'why'): OperatorVote[] {
  return verdicts.map((verdict, i) => ({
    operator: OPERATORS[i]!,
    verdict,
    reason: verdict === 'agrees' ? '' : reason,
    price: 100n,
    timestampNs: 0n,
    signer: undefined,
    url: undefined,
  }));
}

function tickOf(symbol: string, verdicts: readonly VoteVerdict[]): QuorumTick {
  const operators = votesOf(verdicts);
  return new QuorumTick(
    { symbol, price: 100n, timestampNs: 0n, signers: [], verdict: 'verified 2 of 3', operators },
    () => nowMs,
  );
}

function newBoard(): QuorumBoard {
  nowMs = 0;
  return new QuorumBoard(OPERATORS, MAX_AGE_MS);
}

test('a price is shown while enough operators agree, and never when it is too old', async (t) => {
  const board = newBoard();
  t.match(board.row('BTCUSD'), { price: undefined, reason: 'waiting', votes: [] });
  board.take(tickOf('BTCUSD', ['agrees', 'differs', 'agrees']));
  t.match(board.row('BTCUSD'), { price: 100n, agreeing: 2, reason: '' });
  nowMs = MAX_AGE_MS;
  t.match(board.row('BTCUSD'), { price: 100n });
  nowMs = MAX_AGE_MS + 1;
  t.match(board.row('BTCUSD'), { price: undefined, agreeing: 0, reason: 'the price is too old' });
  board.take({ symbol: 'BTCUSD', cause: 'few', reason: '', operators: votesOf(['alone', 'down', 'old']) });
  t.match(board.row('BTCUSD'), { price: undefined, agreeing: 0, reason: /too few operators/ });
  board.take({
    symbol: 'BTCUSD',
    cause: 'spread',
    reason: '',
    operators: votesOf(['differs', 'differs', 'old']),
  });
  t.match(board.row('BTCUSD'), { price: undefined, reason: 'the operators disagree' });
  board.forget('BTCUSD');
  t.match(board.row('BTCUSD'), { reason: 'waiting' });
});

test('an operator with a proof against it is named first, with the evidence', async (t) => {
  const board = newBoard();
  board.take(tickOf('BTCUSD', ['agrees', 'down', 'agrees']));
  board.noteAnswer('b', 'down', 'why');
  board.accuse('b', { message: '0xB signed two values', evidence: '{}' });
  t.match(board.operators(), [
    { verdict: 'agrees', evidence: undefined },
    { verdict: 'equivocates', text: 'signed two prices for one time: 0xB signed two values', evidence: '{}' },
    { verdict: 'agrees' },
  ]);
});

test('the state of an operator is the most serious of its votes', async (t) => {
  const board = newBoard();
  t.same(
    board.operators().map(({ verdict }) => verdict),
    ['silent', 'silent', 'silent'],
  );
  board.take(tickOf('BTCUSD', ['agrees', 'differs', 'agrees']));
  board.take(tickOf('ETHUSD', ['agrees', 'agrees', 'old']));
  t.same(board.operators(), [
    { name: 'a', verdict: 'agrees', text: 'agrees · 2 of 2 assets' },
    { name: 'b', verdict: 'differs', text: 'deviates: why · 1 of 2 assets' },
    { name: 'c', verdict: 'old', text: 'stale: why · 1 of 2 assets' },
  ]);
  board.take(tickOf('ETHUSD', ['agrees', 'agrees', 'unverified']));
  t.equal(board.operators()[2]?.text, 'failed its check: why · 1 of 2 assets');
  board.noteAnswer('c', 'refused', 'no');
  t.match(board.operators()[2], { verdict: 'refused', text: 'refuses the token: no' });
  board.noteAnswer('c');
  t.match(board.operators()[2], { verdict: 'unverified' });
  board.block('b');
  t.match(board.operators()[1], { verdict: 'down', text: /not allowed/ });
});

test("a browser's own words for a lost connection are not shown", async (t) => {
  const [vote] = votesOf(['down'], 'Failed to fetch');
  t.equal(voteText(vote!), 'unreachable: nothing answers at its address');
});
