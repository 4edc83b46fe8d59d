import { join } from 'node:path';
import { test } from 'tap';
import type { AssetName } from '../../src/model/asset_map.js';
import type { SignedAggregate } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';
import { stateText } from '../../src/past/past_entry.js';
import { PastReader } from '../../src/past/past_reader.js';
import { sampleAggregate, sampleAsset, samplePublisher, units } from '../store/sample.js';
import {
  aggregatesOf,
  entriesOf,
  evmName,
  HOUR_START_NS,
  holdingOfAggregate,
  openPast,
  textOf,
} from './sample_past.js';
import { linesOf, readerOf, sealAll, textOfEntry, WrittenPast } from './written_past.js';

const SECOND_NS = 1_000_000_000n;
const HOUR_NS = 3_600n * SECOND_NS;

interface Ended {
  readonly name: AssetName;
  readonly endedNs: TimeNs;
}

/** Entries of three assets over four hours, with the ends of a price, a pause of an hour, and odd texts. */
function sampleEntries(): (SignedAggregate | Ended)[] {
  const stark = sampleAsset(1, { signatureType: 'stark', aggregation: 'weighted average' });
  const publishers = [
    samplePublisher(0),
    samplePublisher(1),
    samplePublisher(2, { signatureType: 'stark', key: Buffer.alloc(32, 7) }),
  ];
  const all: (SignedAggregate | Ended)[] = [
    ...aggregatesOf('BTCUSD', HOUR_START_NS, 700, { stepNs: 7n * SECOND_NS }),
    ...aggregatesOf('SLOW', HOUR_START_NS, 3, { stepNs: HOUR_NS / 2n }),
    ...aggregatesOf('BTCUSD', HOUR_START_NS + 3n * HOUR_NS, 30),
  ];
  for (let i = 0; i < 20; i++) {
    const timeNs = (HOUR_START_NS + BigInt(i) * 400n * SECOND_NS + 5n) as TimeNs;
    all.push(sampleAggregate(stark, publishers.slice(2), units(7 - i), timeNs));
    if (i % 6 === 5) all.push({ name: stark, endedNs: (timeNs + 100n * SECOND_NS) as TimeNs });
  }
  return all.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1));
}

function timeOf(one: SignedAggregate | Ended): bigint {
  return 'endedNs' in one ? one.endedNs : one.signedAtNs;
}

test('hour files of lines give every answer of the packed files, from the log and from the files', async (t) => {
  const dir = t.testdir();
  const packed = join(dir, 'packed');
  const old = await openPast(packed);
  const past = await WrittenPast.open(dir, { segmentBytesMax: 60_000 });
  const entries = sampleEntries();
  for (const one of entries) {
    if ('endedNs' in one) old.append(one.name, { state: 'ended', timeNs: one.endedNs, minute: undefined });
    else old.append(one, holdingOfAggregate(one));
  }
  await old.write();
  await old.committed();
  await past.write(
    entries.map((one) => ('endedNs' in one ? stateText('ended', one.name, one.endedNs) : one)),
  );
  await past.sealed();
  const names = [
    evmName('BTCUSD'),
    evmName('SLOW'),
    sampleAsset(1, { signatureType: 'stark' }),
    evmName('NONE'),
  ];
  async function compare(where: string): Promise<void> {
    const [before, after] = [new PastReader(packed), readerOf(dir)];
    t.equal(await after.keptFrom(), await before.keptFrom());
    for (const name of names) {
      const rows = (await entriesOf(packed, name)).map((one) =>
        one.kind === 'priced' ? textOf(one.aggregate) : one.kind,
      );
      t.strictSame((await linesOf(dir, name)).map(textOfEntry), rows, `${where}: range of ${name.symbol}`);
      for (
        let timeNs = HOUR_START_NS - 1n;
        timeNs < HOUR_START_NS + 5n * HOUR_NS;
        timeNs += 333n * SECOND_NS
      ) {
        const [one, other] = [await before.inForce(name, timeNs), await after.inForce(name, timeNs)];
        const text = one === undefined ? undefined : one.kind === 'priced' ? textOf(one.aggregate) : one.kind;
        if ((other && textOfEntry(other)) !== text)
          t.equal(other && textOfEntry(other), text, `${where}: ${name.symbol} at ${timeNs}`);
        t.equal(await after.reaches(name, timeNs), await before.reaches(name, timeNs));
      }
      const from = HOUR_START_NS + HOUR_NS / 3n;
      const some = (await linesOf(dir, name, { fromNs: from, toNs: from + HOUR_NS })).map(textOfEntry);
      const same = await entriesOf(packed, name, from, from + HOUR_NS);
      t.strictSame(
        some,
        same.map((one) => (one.kind === 'priced' ? textOf(one.aggregate) : one.kind)),
      );
    }
    await Promise.all([before.close(), after.close()]);
  }
  await compare('with a log');
  await Promise.all([old.close(), past.close()]);
  await (await openPast(packed)).close();
  await sealAll(dir);
  await compare('from files');
});
