import { rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { hourOf, hourPath, pastFolderOf } from '../../../src/log/past/hour_paths.js';
import type { TimeNs } from '../../../src/model/time.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { aggregateOf, evmName, HOUR_START_NS, inputOf, textOf } from './sample_past.js';
import { linesOf, openWriter, readerOf, sealAll, textOfEntry, WrittenPast } from './written_past.js';

const BTC = evmName('BTCUSD');

const at = (seconds: number) => (HOUR_START_NS + BigInt(seconds) * 1_000_000_000n) as TimeNs;
const one = (seconds: number) => aggregateOf('BTCUSD', at(seconds), [inputOf('BTCUSD', 0, at(seconds))]);

test('without a list of hours, the damaged end of a file is a loss to the next entry', async (t) => {
  const dir = t.testdir();
  for (const seconds of [10, 20, 3_700, 3_710]) {
    const past = await WrittenPast.open(dir);
    await past.write([one(seconds)]);
    await past.close();
  }
  await sealAll(dir);
  const folder = pastFolderOf(dir);
  for (const hour of [0, 1]) {
    const path = hourPath(folder, hourOf(HOUR_START_NS) + hour, 'jsonl');
    truncateSync(path, statSync(path).size - 1);
  }
  rmSync(join(folder, 'hours'));
  await openWriter(dir, { clock: new FakeClock(at(3_800)) });
  const reader = readerOf(dir);
  t.equal(textOfEntry((await reader.inForce(BTC, at(10)))!), textOf(one(10)));
  const lost = { name: 'LostRange', firstNs: at(10) + 1n, lastNs: at(3_700) - 1n };
  await t.rejects(reader.inForce(BTC, at(30)), lost);
  await t.rejects(linesOf(dir, BTC), lost);
  t.equal(textOfEntry((await reader.inForce(BTC, at(3_700)))!), textOf(one(3_700)));
  await t.rejects(reader.inForce(BTC, at(3_720)), { name: 'LostRange', firstNs: at(3_700) + 1n });
  await reader.close();
});
