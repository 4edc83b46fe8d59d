import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'tap';
import { formatBatchEntry, isBatchOf, parseBatchEntry } from '../../src/tlog/batch_entry.js';
import { verifyByNode } from '../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../src/tlog/log_policy.js';
import { verifyPriceProof } from '../../src/tlog/price_proof.js';
import {
  decodeRecord,
  encodeRecord,
  RECORD_BYTES,
  sortRecords,
  splitRecords,
} from '../../src/tlog/price_record.js';
import { formatProofFile, parseProofFile } from '../../src/tlog/proof_file.js';
import { TlogError } from '../../src/tlog/tlog_error.js';
import { holds } from '../holds.js';
import {
  batchesOf,
  LOG_ORIGIN,
  policyText,
  proofOf,
  recordAt,
  SECOND_NS,
  WITNESSES,
} from './witnessed_log.js';

const POLICY = parsePolicy(policyText('group G 2 W1 W2 W3\nquorum G'));
const BATCHES = batchesOf(300, (fromNs) =>
  Array.from({ length: 13 }, (_, i) => recordAt(fromNs + BigInt(i), 1 + (i % 5), i)),
);
const RECORD = BATCHES.records[42]![7]!;
const PROOF = proofOf(BATCHES, 42, 7);

test('a price is proven by one file', async (t) => {
  for (const [batch, record] of [
    [0, 0],
    [255, 12],
    [299, 12],
  ] as const) {
    const bytes = BATCHES.records[batch]![record]!;
    const logged = await verifyPriceProof(bytes, proofOf(BATCHES, batch, record), POLICY, verifyByNode);
    t.match(logged, {
      origin: LOG_ORIGIN,
      size: 300n,
      record: BigInt(record),
      batch: { batch: BigInt(batch), records: 13n },
    });
    t.same([...logged.cosigners.keys()], ['W1', 'W2', 'W3']);
  }
  t.ok(await verifyPriceProof(RECORD, Buffer.from(PROOF), POLICY), 'by WebCrypto, from bytes');
  t.ok(PROOF.length < 3_500, `${PROOF.length} bytes`);
});

test('each step that does not hold is named', async (t) => {
  const file = parseProofFile(PROOF);
  const refuse = (record: Uint8Array, proof: string, message: string | RegExp) =>
    t.rejects(verifyPriceProof(record, proof, POLICY, verifyByNode), { name: 'TlogError', message });
  const other = RECORD.slice();
  other[RECORD_BYTES - 1]! ^= 1;
  await refuse(other, PROOF, 'batch 42 does not have this price at 7');
  await refuse(BATCHES.records[43]![7]!, PROOF, /^the price was signed at .* ns, which is not in batch 42$/);
  await refuse(RECORD, formatProofFile({ ...file, index: 43n }), 'batch 42 is not the entry 43 of the log');
  const noPlace = formatProofFile({ ...file, extra: undefined });
  await refuse(RECORD, noPlace, "the proof's extra data is not the place of a price");
  await refuse(RECORD, proofOf(BATCHES, 42, 7, WITNESSES.slice(0, 1)), /cosigned by W1, which is not/);
  // A log with the same key but one different record. Its checkpoint does not prove records of the first log.
  const forked = batchesOf(300, (fromNs) => [recordAt(fromNs, 1, fromNs === 42n * SECOND_NS ? 9 : 1)]);
  const mixed = { ...file, checkpoint: parseProofFile(proofOf(forked, 42, 0)).checkpoint };
  await refuse(RECORD, formatProofFile(mixed), `${LOG_ORIGIN} does not have this batch at 42`);
});

test('a proof in which a byte is changed proves only what the original proves', async (t) => {
  const original = Buffer.from(PROOF);
  const faults: string[] = [];
  for (let at = 0; at < original.length; at += 3) {
    const bytes = Buffer.from(original);
    bytes[at]! ^= 1 << (at % 7);
    try {
      const logged = await verifyPriceProof(RECORD, bytes, POLICY, verifyByNode);
      // A change may turn a cosigner's name or key ID into an unknown one. The other two of the three cosigners are enough.
      if (logged.cosigners.size !== 2) faults.push(`byte ${at}: ${[...logged.cosigners.keys()]}`);
    } catch (error) {
      if (!(error instanceof TlogError)) faults.push(`byte ${at}: ${error}`);
    }
  }
  t.same(faults, []);
});

test('malformed proof files are refused', async (t) => {
  t.equal(formatProofFile(parseProofFile(PROOF)), PROOF);
  for (const wrong of [
    '',
    PROOF.replace('@v1', '@v2'),
    PROOF.replace('index 42', 'index 042'),
    PROOF.replace('extra ', 'extra'),
    PROOF.replace('\n\n', '\n'),
    PROOF.replace('index 42\n', `index 42\n${'A'.repeat(44)}\n`),
    PROOF.replace('index 42\n', `index 42\n${`${'A'.repeat(43)}=\n`.repeat(70)}`),
    PROOF.slice(0, PROOF.indexOf('\n\n')),
  ])
    t.throws(() => parseProofFile(wrong), TlogError, wrong.slice(0, 80));
});

test('entries have one form', async (t) => {
  const entry = BATCHES.entries[42]!;
  const text = Buffer.from(formatBatchEntry(entry)).toString();
  t.equal(
    text.replace(/root .*/, 'root R'),
    'tickseal-batch/v1\nepoch 0\nbatch 42\nfrom 42000000000\nto 43000000000\nrecords 13\nroot R\n',
  );
  t.same(parseBatchEntry(text), entry);
  for (const wrong of [
    text.slice(0, -1),
    `${text}\n`,
    text.replace('v1', 'v2'),
    text.replace('epoch 0', 'epoch 00'),
    text.replace('epoch 0', 'epoch -1'),
    text.replace('records 13', 'records 0'),
    text.replace('to 43000000000', 'to 41000000000'),
    text.replace('epoch 0\n', ''),
    text.replace('=\n', '\n'),
  ])
    t.throws(() => parseBatchEntry(wrong), TlogError, wrong);
});

test('a batch has its records in order, each once', async (t) => {
  const records = BATCHES.records[42]!;
  const entry = BATCHES.entries[42]!;
  const bytes = Buffer.concat(records);
  t.ok(isBatchOf(entry, splitRecords(bytes)));
  t.notOk(isBatchOf(entry, records.slice(1)));
  t.notOk(isBatchOf({ ...entry, toNs: entry.fromNs + 5n }, records), 'a record outside the period');
  t.throws(() => splitRecords(bytes.subarray(1)), TlogError);
  t.throws(() => splitRecords(Buffer.concat([records[1]!, records[0]!])), TlogError);
  t.throws(() => splitRecords(Buffer.concat([records[0]!, records[0]!])), TlogError);
  t.throws(() => splitRecords(new Uint8Array(RECORD_BYTES)), TlogError, 'an unknown signature type');
  const shuffled = [...records, records[3]!].reverse();
  t.same(sortRecords(shuffled), records);
  t.throws(() => sortRecords([recordAt(5n, 1, 1), recordAt(5n, 1, 2)]), TlogError, 'two at one place');
});

test('records keep their fields', async (t) => {
  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const timeNs = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const signatureType = fc.constantFrom('evm' as const, 'stark' as const);
  const fields = { signatureType, signer: bytes32, symbolHash: bytes32, timeNs, msgHash: bytes32 };
  const record = fc.record(fields, { noNullPrototype: true });
  holds(
    t,
    fc.property(record, (one) => {
      const bytes = encodeRecord(one);
      assert.equal(bytes.length, 105);
      assert.deepEqual(decodeRecord(bytes), one);
    }),
  );
  const one = decodeRecord(recordAt(5n));
  for (const timeNs of [-1n, 2n ** 64n]) t.throws(() => encodeRecord({ ...one, timeNs }), RangeError);
  t.throws(() => encodeRecord({ ...one, signer: new Uint8Array(20) }), RangeError);
  t.throws(() => decodeRecord(new Uint8Array(104)), TlogError);
});
