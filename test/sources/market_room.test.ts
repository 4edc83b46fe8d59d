import { test } from 'tap';
import { MarketRoom } from '../../src/sources/market_room.js';
import { after, planOf } from './plans.js';

const PLAN = planOf(`
sources: { kraken: { kind: kraken }, coinbase: { kind: coinbase } }
assets: { BTCUSD: { from: [kraken BTC/USD, coinbase BTC/USD], min_sources: 1 } }
`);

const SOCKET = { begin: 1, source: 'kraken', symbols: ['BTC/USD'] };
const REST = { begin: 2, source: 'kraken', symbols: ['BTC/USD'], rest: true } as const;
const STATUS = (system: string) => `{"channel":"status","type":"update","data":[{"system":"${system}"}]}`;
const ANSWER = '{"error":[],"result":{"XXBTZUSD":{"a":["62818.8","1"],"b":["62807.0","1"]}}}';
const QUOTE = '{"channel":"ticker","data":[{"symbol":"BTC/USD","bid":62807.0,"ask":62818.8}]}';

test('a market that has halted has no price over REST either', async (t) => {
  let room = new MarketRoom(PLAN, () => {});
  const price = () => room.decisions(after(4))[0]!.price;
  room.open(SOCKET);
  room.open(REST);
  room.read(1, STATUS('online'), after(0));
  t.equal(room.read(2, ANSWER, after(1)).length, 1);
  t.ok(price(), 'a quiet one has');

  room.read(1, STATUS('post_only'), after(2));
  t.same(room.read(2, ANSWER, after(3)), []);
  t.equal(price(), undefined);
  const state = room.state();
  room = new MarketRoom(PLAN, () => {});
  room.restore(state);
  t.same(room.read(2, ANSWER, after(3)), [], 'nor has one that a recording continues');
  room.read(1, STATUS('online'), after(3));
  t.equal(room.read(2, ANSWER, after(4)).length, 1);
  t.ok(price());
  room.read(1, STATUS('maintenance'), after(4));
  room.close(1);
  room.open({ ...SOCKET, begin: 3 });
  room.read(3, STATUS('online'), after(4));
  room.read(3, QUOTE, after(4));
  t.ok(price(), 'a new connection tells the status anew');
});
