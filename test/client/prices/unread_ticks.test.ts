import { test } from 'tap';
import { Tick } from '../../../src/client/prices/tick.js';
import { UnreadTicks } from '../../../src/client/prices/unread_ticks.js';

function tick(symbol: string, ns: number, backfilled = false): Tick {
  const fields = { symbol, price: 1n, timestampNs: BigInt(ns), signer: '', verdict: 'verified' as const };
  return new Tick({ ...fields, attributes: {}, url: '' }, () => 0, backfilled);
}

async function* missed(...ticks: Tick[]): AsyncGenerator<Tick, undefined> {
  yield* ticks;
  return undefined;
}

async function readAll(unread: UnreadTicks): Promise<string[]> {
  const read: string[] = [];
  for (let next = unread.take(); next !== undefined; next = unread.take()) {
    const one = next instanceof Tick ? next : (await next.next()).value;
    if (one !== undefined) read.push(`${one.symbol}${one.timestampNs}`);
    else unread.end(next as AsyncGenerator<Tick, undefined>);
  }
  return read;
}

test('a slow reader receives the newest tick of each asset, but every tick of a gap and behind it', async (t) => {
  const unread = new UnreadTicks();
  for (const ns of [1, 2]) unread.add(tick('A', ns));
  unread.add(tick('B', 2));
  t.same(await readAll(unread), ['A2', 'B2']);
  t.equal(unread.conflated, 1);
  unread.add(tick('A', 3));
  unread.addMissed(missed(tick('A', 4, true), tick('A', 5, true), tick('B', 4, true)));
  unread.add(tick('A', 6));
  unread.add(tick('A', 7));
  unread.addMissed(missed(tick('B', 8, true)));
  unread.add(tick('B', 9));
  t.same(await readAll(unread), ['A3', 'A4', 'A5', 'B4', 'A6', 'A7', 'B8', 'B9']);
  unread.addMissed(missed());
  for (let ns = 10; ns < 20_010; ns++) unread.add(tick('A', ns));
  const read = await readAll(unread);
  t.equal(read.length, 10_000, 'past a limit the newest is kept');
  t.equal(read.at(-1), 'A20009');
});
