import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { type Evidence, parseEvidence } from '../../../src/client/verify/evidence_file.js';
import { ServedLog } from '../../../src/client/verify/served_log.js';
import { AuditFolder } from '../../../src/publiclog/witness/audit_folder.js';
import { LogAudit, type LogAuditOptions } from '../../../src/publiclog/witness/log_audit.js';
import { batchOf, formatBatchEntry, parseBatchEntry } from '../../../src/tlog/batch_entry.js';
import { writeBundle } from '../../../src/tlog/tiles.js';
import { TlogError } from '../../../src/tlog/tlog_error.js';
import { recordAt } from '../../tlog/witnessed_log.js';
import { AuditedLog, NO_DELAY, POLICY, signedPrice, startOf, verdictOn } from './audited_log.js';
import { emptyFolder } from './small_witness.js';

async function auditOf(
  t: Test,
  log: AuditedLog,
  dir = emptyFolder(t),
  onUnsigned: (reason: string) => void = (reason) => void t.fail(reason),
): Promise<LogAudit> {
  const folder = new AuditFolder(dir);
  const keep: LogAuditOptions['keep'] = (state) => folder.write(state);
  const nowNs = () => startOf(log.entries.length);
  const options = { log: new ServedLog(log.read), policy: POLICY, keep, nowNs, onUnsigned };
  return new LogAudit({ ...options, delay: NO_DELAY, onFinding: () => {} }, await folder.read());
}

/** Returns the proven fault that an audit finds when it reads a log for the first time. */
async function provenIn(t: Test, log: AuditedLog, dir?: string): Promise<string> {
  return proven((await (await auditOf(t, log, dir)).step()).evidence);
}

async function proven(evidence: Evidence | undefined): Promise<string> {
  const fault = await verdictOn(evidence);
  return fault.verdict === 'verified' ? fault.statement : fault.verdict;
}

test('honest work catches nothing, and every price that was heard is found', async (t) => {
  const dir = emptyFolder(t);
  const log = new AuditedLog().grow(20);
  let audit = await auditOf(t, log, dir);
  for (const [round, count] of [1, 0, 240, 30, 7].entries()) {
    log.grow(count);
    for (const price of log.prices.slice(-5)) t.equal(audit.receive(price), undefined);
    const early = new AuditedLog().grow(log.entries.length + 1).prices.at(-1)!;
    t.equal(audit.receive(early), undefined, 'a price whose batch is not there yet');
    const { size, evidence } = await audit.step();
    t.equal(evidence, undefined, `round ${round}`);
    t.equal(size, BigInt(log.entries.length));
    if (round === 2) audit = await auditOf(t, log, dir);
  }
  t.equal(audit.found, 11, 'since the restart');
  // Another node may lag: its older checkpoint is consistent.
  log.shownSize = 260;
  t.same(await audit.step(), { size: BigInt(log.entries.length), evidence: undefined });
});

test('(a) two values that are signed for one time are caught, on the stream and in the log', async (t) => {
  const log = new AuditedLog().grow(5);
  const audit = await auditOf(t, log);
  t.equal(audit.receive(log.prices[3]!), undefined);
  const evidence = audit.receive(signedPrice(startOf(3) + 5n, 99n));
  t.match(await proven(evidence), /^0x\w+ signed two values of BTCUSD for 1003000000005 ns$/);

  log.append([recordAt(startOf(5), 1, 1), recordAt(startOf(5), 1, 2), recordAt(startOf(5), 3, 1)]);
  t.match(
    await proven((await audit.step()).evidence),
    /^batch 5 of prices.example.com\/tlog is faulty: two values are signed for one asset/,
  );
});

test('(b) a price that only one reader was shown is caught', async (t) => {
  const log = new AuditedLog().grow(5);
  const audit = await auditOf(t, log);
  audit.receive(signedPrice(startOf(2) + 5n, 1n));
  t.match(
    await proven((await audit.step()).evidence),
    /signed BTCUSD at 1002000000005 ns, and batch 2 of .* has another value there$/,
  );
});

test('a price that its signer did not sign proves nothing, and hides no signed price', async (t) => {
  const log = new AuditedLog().grow(5);
  const reasons: string[] = [];
  const audit = await auditOf(t, log, emptyFolder(t), (reason) => reasons.push(reason));
  /** Returns the signed price of another value with the signature of this value. */
  const forged = (batch: number) => {
    const own = JSON.parse(signedPrice(startOf(batch) + 5n, 7n));
    const other = JSON.parse(signedPrice(startOf(batch) + 5n, 8n));
    const key = Object.keys(own).find((name) => name.endsWith('_signed_price'))!;
    other[key].timestamped_signature.signature = own[key].timestamped_signature.signature;
    return JSON.stringify(other);
  };
  audit.receive(forged(2));
  t.equal((await audit.step()).evidence, undefined, 'not in the log');
  t.equal(audit.receive(forged(4)), undefined);
  t.equal(audit.receive(log.prices[4]!), undefined, 'before the signed price');
  t.equal((await audit.step()).evidence, undefined);
  t.equal(audit.found, 1);
  t.match(reasons, [/^the price is not signed by the service: /, /not signed/]);
  t.match(audit.receive(signedPrice(startOf(4) + 5n, 9n)), { kind: 'two values' });
});

test('(c) a price that the log lacks is caught, wherever it belongs', async (t) => {
  const log = new AuditedLog().grow(5);
  log.append([]);
  log.append([recordAt(startOf(6), 2)]);
  for (const [timeNs, symbol] of [
    ...[1n, 500n].map((ns) => [startOf(2) + ns, 'BTCUSD'] as const),
    [startOf(3), 'ETHUSD'],
    [startOf(5) + 1n, 'BTCUSD'],
    [startOf(6) + 1n, 'BTCUSD'],
  ] as const) {
    const audit = await auditOf(t, log);
    audit.receive(signedPrice(timeNs, 7n, symbol));
    const { evidence } = await audit.step();
    t.match(await proven(evidence), /does not have it$/, `${symbol} ${timeNs}`);
  }
});

test('(d) a batch that is rewritten is caught', async (t) => {
  const log = new AuditedLog().grow(40);
  const dir = emptyFolder(t);
  t.equal((await (await auditOf(t, log, dir)).step()).evidence, undefined);
  const rewritten = new AuditedLog().grow(30);
  rewritten.append([recordAt(startOf(30), 1, 66)]);
  rewritten.grow(20);
  t.equal(
    await provenIn(t, rewritten, dir),
    'prices.example.com/tlog signed two pasts: its tree of 51 entries does not begin with its tree of 40',
  );
});

test('records of a batch that do not have its root are observed, and prove nothing', async (t) => {
  const log = new AuditedLog().grow(9);
  log.records[4] = [recordAt(startOf(4), 1, 66)];
  const { evidence } = await (await auditOf(t, log)).step();
  t.match(evidence, { kind: 'observed', found: /records of batch 4 that do not have the root/ });
  await t.rejects(proven(evidence), { message: /only the auditor saw it/ });
});

test('(e) a fork is caught: of the same size, of a larger size, and by its entries', async (t) => {
  const dir = emptyFolder(t);
  const log = new AuditedLog().grow(40);
  await (await auditOf(t, log, dir)).step();
  const fork = new AuditedLog().grow(20);
  fork.append([]);
  for (const count of [19, 1]) {
    fork.grow(count);
    t.match(await provenIn(t, fork, dir), /signed two pasts/, `size ${fork.entries.length}`);
  }
  const gap = new AuditedLog().grow(3);
  gap.append([], { fromNs: startOf(3) + 1n });
  t.match(await provenIn(t, gap), /batch 3 begins at .* and the one before ends at/);
  const misplaced = new AuditedLog().grow(3);
  misplaced.append([], { batch: 4n });
  t.match(await provenIn(t, misplaced), /entry 3 is batch 4/);
});

test('files that somebody changed on their way are observed, and do not become evidence against the log', async (t) => {
  const log = new AuditedLog().grow(9);
  const entry = parseBatchEntry(log.entries[6]!);
  const swapped = [...log.records[6]!].reverse();
  for (const [garbled, records] of [
    [Buffer.from('x'), log.records[6]!],
    [formatBatchEntry(batchOf({ ...entry, fromNs: startOf(6) + 1n }, log.records[6]!)), log.records[6]!],
    [formatBatchEntry(batchOf(entry, swapped)), swapped],
  ] as const) {
    const read: typeof log.read = async (path, max) => {
      if (path.startsWith('tile/entries/')) return writeBundle(log.entries.with(6, garbled));
      return path === 'batch/006' ? Buffer.concat(records) : log.read(path, max);
    };
    const { evidence } = await (await auditOf(t, Object.assign(new AuditedLog(), { read }))).step();
    const found = /do not fit its checkpoint: the log does not have the entry/;
    t.match(evidence, { kind: 'observed', found });
  }
});

test('evidence that was made up proves nothing', async (t) => {
  const log = new AuditedLog().grow(9);
  const audit = await auditOf(t, log);
  const stranger = new Uint8Array(32).fill(9);
  audit.receive(signedPrice(startOf(2) + 5n, 1n, 'BTCUSD', stranger));
  const { evidence } = await audit.step();
  await t.rejects(proven(evidence), {
    message: /not signed by the service: service_signed_price public_key/,
  });
  const real = await auditOf(t, log);
  real.receive(signedPrice(startOf(2) + 6n, 1n));
  const lacking = (await real.step()).evidence as Extract<Evidence, { kind: 'not in the log' }>;
  t.ok(await proven(lacking));
  const changes: Partial<typeof lacking>[] = [
    { price: log.prices[2]! },
    { price: lacking.price.replace('"1"', '"2"') },
    { records: lacking.records.slice(1) },
    { records: [] },
    { checkpoint: log.note().replace('\n9\n', '\n8\n') },
    { batch: { ...lacking.batch, index: '3' } },
    { batch: { ...lacking.batch, entry: lacking.batch.entry.replace('records 5', 'records 6') } },
  ];
  for (const change of changes)
    await t.rejects(proven({ ...lacking, ...change }), TlogError, JSON.stringify(change).slice(0, 60));
  const honest: Evidence = { kind: 'fork', checkpoints: [log.note(4), log.note(9)], root: '', proof: [] };
  await t.rejects(proven(honest), TlogError);
  for (const other of [1, 2])
    await t.rejects(proven({ kind: 'two values', prices: [log.prices[1]!, log.prices[other]!] }), TlogError);
  for (const text of ['', '{}', '{"format":"tickseal-evidence/v1","kind":"fork","checkpoints":["a"]}'])
    t.throws(() => parseEvidence(text), TlogError);
});

test('a log that withholds records is caught after some attempts, and the state of an audit is checked', async (t) => {
  const dir = emptyFolder(t);
  const log = new AuditedLog().grow(4);
  const audit = await auditOf(t, log, dir);
  await audit.step();
  log.grow(1);
  log.records.pop();
  for (let attempt = 1; attempt < 10; attempt += 1)
    await t.rejects(audit.step(), /does not serve the records of batch 4/);
  t.match((await audit.step()).evidence, { kind: 'observed' });
  const [name = ''] = readdirSync(dir);
  writeFileSync(join(dir, name), readFileSync(join(dir, name), 'utf8').replace('"hash":"', '"hash":"A'));
  await t.rejects(auditOf(t, log, dir), { message: /is damaged/ });
});
