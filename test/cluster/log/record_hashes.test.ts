import { test } from 'tap';
import { recordId } from '../../../src/cluster/log/record_chain.js';
import { RecordHashes } from '../../../src/cluster/log/record_hashes.js';

const idOf = (sequence: number, history = 0) => recordId(Buffer.from(`${sequence} ${history}`));

test('the hashes of the newest records are kept, and those of skipped records are unknown', (t) => {
  const hashes = new RecordHashes();
  t.equal(hashes.has(1), false);
  t.equal(hashes.last, 0);
  for (let sequence = 5; sequence <= 20_000; sequence++)
    if (sequence % 7 !== 0) hashes.add({ sequence, id: idOf(sequence) });
  t.same([hashes.first, hashes.last], [5, 20_000], 'after several growths');
  for (let sequence = 1; sequence <= 20_010; sequence++) {
    const isKnown = sequence >= 5 && sequence <= 20_000 && sequence % 7 !== 0;
    if (hashes.has(sequence) !== isKnown) t.fail(`record ${sequence}`);
    if (hashes.isId(sequence, idOf(sequence)) !== (isKnown ? true : undefined)) t.fail(`record ${sequence}`);
    if (hashes.isId(sequence, idOf(sequence, 1)) !== (isKnown ? false : undefined))
      t.fail(`record ${sequence}`);
  }
  t.end();
});

test('the oldest hashes are dropped', (t) => {
  const hashes = new RecordHashes(100);
  for (let sequence = 1; sequence <= 250; sequence++) hashes.add({ sequence, id: idOf(sequence) });
  t.same([hashes.first, hashes.last], [151, 250]);
  t.equal(hashes.has(150), false);
  t.equal(hashes.isId(151, idOf(151)), true);
  hashes.add({ sequence: 300, id: idOf(300) });
  t.same([hashes.first, hashes.has(250), hashes.has(251), hashes.has(300)], [201, true, false, true]);
  hashes.add({ sequence: 1_000, id: idOf(1_000) });
  t.same([hashes.first, hashes.last, hashes.has(300)], [1_000, 1_000, false], 'after a long gap');
  hashes.add({ sequence: 3, id: idOf(3) });
  t.same([hashes.first, hashes.last], [3, 3], 'another log');
  t.end();
});
