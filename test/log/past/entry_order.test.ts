import { test } from 'tap';
import { stateText } from '../../../src/log/past/past_entry.js';
import type { TimeNs } from '../../../src/model/time.js';
import { aggregateOf, evmName, HOUR_START_NS, inputOf, textOf } from './sample_past.js';
import { linesOf, readerOf, sealAll, textOfEntry, WrittenPast } from './written_past.js';

const BTC = evmName('BTCUSD');

const at = (seconds: number) => (HOUR_START_NS + BigInt(seconds) * 1_000_000_000n) as TimeNs;
const one = (seconds: number) => aggregateOf('BTCUSD', at(seconds), [inputOf('BTCUSD', 0, at(seconds))]);

test('a loss lasts until the next aggregate, and nothing before it tells what was in force', async (t) => {
  const dir = t.testdir();
  const [first, next] = [one(10), one(40)];
  const past = await WrittenPast.open(dir);
  await past.write([first, '{"lost":true}']);
  const check = async (toNs: bigint) => {
    const reader = readerOf(dir);
    t.equal(textOfEntry((await reader.inForce(BTC, at(10)))!), textOf(first));
    const lost = { name: 'LostRange', firstNs: at(10) + 1n };
    await t.rejects(reader.inForce(BTC, at(36)), { ...lost, lastNs: toNs - 1n });
    await t.rejects(linesOf(dir, BTC, { toNs }), { ...lost, lastNs: toNs - 1n });
    await reader.close();
  };
  await check(at(36) + 1n);
  // At a start, the end of a price follows from the inputs before the loss.
  await past.write([stateText('ended', BTC, at(35))]);
  await check(at(36) + 1n);
  await past.write([next]);
  await check(at(40));
  t.equal(textOfEntry((await readerOf(dir).inForce(BTC, at(41)))!), textOf(next));
  await past.close();
  await sealAll(dir);
  await check(at(40));
});

test('the end of a price that is older than the files tells nothing about a later time', async (t) => {
  const dir = t.testdir();
  const past = await WrittenPast.open(dir);
  await past.write([one(10), one(100)]);
  await past.close();
  await sealAll(dir);
  // A start with an older state finds the end of its price.
  const restored = await WrittenPast.open(dir);
  await restored.write([stateText('ended', BTC, at(70))]);
  const reader = readerOf(dir);
  for (const [seconds, inForce] of [
    [60, 10],
    [120, 100],
  ] as const)
    t.equal(
      textOfEntry((await reader.inForce(BTC, at(seconds)))!),
      textOf(one(inForce)),
      `after ${seconds} s`,
    );
  await reader.close();
  await restored.close();
});
