import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { pastFolderOf } from '../../../src/log/past/hour_paths.js';
import { checkPast } from '../../../src/log/past/past_check.js';
import { aggregatesOf, HOUR_START_NS } from './sample_past.js';
import { sealAll, WrittenPast } from './written_past.js';

const HOUR_NS = 3_600_000_000_000n;

test('every changed byte, and every missing, cut or longer file of the past is damage', async (t) => {
  const dir = t.testdir();
  const past = await WrittenPast.open(dir);
  for (const hour of [0n, 1n])
    await past.write(aggregatesOf('BTCUSD', HOUR_START_NS + hour * HOUR_NS, 300), 100);
  await past.close();
  await sealAll(dir);
  const folder = pastFolderOf(dir);
  const steps: number[] = [];
  t.same(await checkPast(folder, (done) => steps.push(done)), []);
  t.ok(steps.length >= 2);
  const names = readdirSync(folder).sort();
  t.match(names.join(), /\.inputs.*\.jsonl.*hours/);
  for (const name of names) {
    const path = join(folder, name);
    const whole = readFileSync(path);
    const damageOf = async (bytes: Buffer | undefined) => {
      if (bytes === undefined) rmSync(path);
      else writeFileSync(path, bytes);
      const damage = await checkPast(folder);
      writeFileSync(path, whole);
      return damage.join('; ');
    };
    t.match(await damageOf(undefined), /missing/, `${name} is missing`);
    t.match(await damageOf(whole.subarray(0, whole.length - 1)), /damaged|missing|ends/, `${name} is cut`);
    for (let at = 0; at < whole.length; at += 1 + Math.floor(whole.length / 40)) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 4;
      t.match(await damageOf(bytes), /damaged/, `byte ${at} of ${name}`);
    }
  }
  t.same(await checkPast(folder), []);
  t.same(await checkPast(join(dir, 'nothing')), [], 'a folder without a past');
});
