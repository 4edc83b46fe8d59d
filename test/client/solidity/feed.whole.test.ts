import { test } from 'tap';
import { E18, NS_PER_S } from './payloads.js';
import { deployFeed, deployReader, START_S, type Terms, updateAt } from './reader.js';

// Tests of the feed: Chainlink's interfaces over the prices of a reader.

const NO_DATA = { ok: false, error: 'Error', args: ['No data present'] };

async function feedOf(terms: Partial<Terms> = {}, options: Parameters<typeof deployFeed>[1] = {}) {
  const reader = await deployReader(terms);
  return { reader, chain: reader.chain, feed: await deployFeed(reader, options) };
}

const one = (value: bigint) => [{ id: 1, value }];

test('answers have the decimals of the feed, rounded toward zero', async (t) => {
  const { reader, chain, feed } = await feedOf();
  const exact = await deployFeed(reader, { decimals: 18 });
  chain.timeS = START_S + 10n;
  t.match(await feed.call('latestRoundData'), NO_DATA);
  t.same(await feed.read('latestAnswer'), 0n);
  const values = [
    [1_234_567_891_999_999_999n, 123_456_789n],
    [-1_234_567_891_999_999_999n, -123_456_789n],
    [-9_999_999_999n, 0n],
    [0n, 0n],
    [2n ** 127n - 1n, (2n ** 127n - 1n) / 10n ** 10n],
    [-(2n ** 127n), -(2n ** 127n / 10n ** 10n)],
  ] as const;
  for (const [i, [value, rounded]] of values.entries()) {
    t.match(await feed.call('update', [updateAt(BigInt(i), one(value))]), { ok: true });
    const round = BigInt(i + 1);
    t.same(await feed.read('latestRoundData'), [round, rounded, START_S, START_S, round]);
    t.same(await exact.read('latestRoundData'), [round, value, START_S, START_S, round]);
    t.same(await feed.read('latestAnswer'), rounded);
  }
  t.same([await feed.read('decimals'), await exact.read('decimals')], [8, 18]);
  await t.rejects(deployFeed(reader, { decimals: 6 }), /UnusualDecimals/);
});

test('the time is the signed second, and never after the block', async (t) => {
  const { chain, feed, reader } = await feedOf();
  chain.timeS = START_S + 50n;
  await feed.call('update', [updateAt(999_999_999n, one(E18))]);
  t.same(await feed.read('latestTimestamp'), START_S, 'rounded down');
  chain.timeS = START_S + 70n;
  t.same(await feed.read('latestTimestamp'), START_S, 'the block is later');
  const ahead = updateAt(71n * NS_PER_S, one(2n * E18));
  t.match(await reader.call('update', [ahead]), { ok: false, error: 'AheadOfBlock' }, 'a second ahead');
  chain.timeS += 1n;
  t.match(await reader.call('update', [ahead]), { ok: true });
  t.same(await feed.read('latestTimestamp'), chain.timeS);
});

test('a feed keeps the last rounds, without gaps', async (t) => {
  const { chain, feed, reader } = await feedOf({ rounds: 3 });
  chain.timeS = START_S + 50n;
  for (let i = 1n; i <= 8n; i++) {
    await reader.call('update', [updateAt(i * NS_PER_S, one(i * E18))]);
    for (let round = 0n; round <= i + 3n; round++) {
      const isKept = round > 0n && round > i - 3n && round <= i;
      const result = await feed.call('getRoundData', [round]);
      const time = START_S + round;
      if (isKept) t.match(result, { ok: true, value: [round, round * 10n ** 8n, time, time, round] });
      else t.match(result, NO_DATA, `round ${round} of ${i}`);
      t.same(await feed.read('getAnswer', round), isKept ? round * 10n ** 8n : 0n);
      t.same(await feed.read('getTimestamp', round), isKept ? time : 0n);
    }
  }
  t.match(await feed.call('getRoundData', [2n ** 32n + 8n]), NO_DATA);
});
