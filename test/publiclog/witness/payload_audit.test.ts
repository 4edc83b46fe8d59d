import { type Test, test } from 'tap';
import type { Evidence } from '../../../src/client/verify/evidence_file.js';
import { ServedLog } from '../../../src/client/verify/served_log.js';
import { AuditFolder } from '../../../src/publiclog/witness/audit_folder.js';
import { LogAudit } from '../../../src/publiclog/witness/log_audit.js';
import { AuditedLog, NO_DELAY, POLICY, signedPrice, startOf, verdictOn } from './audited_log.js';
import { emptyFolder } from './small_witness.js';

/** Returns hashes that begin with these bytes. */
const hashes = (...first: number[]) => first.map((byte) => new Uint8Array(32).fill(9).fill(byte, 0, 1));

/** Returns a log of payloads. */
function payloadLog(...batches: Uint8Array[][]): AuditedLog {
  const log = new AuditedLog();
  for (const batch of batches) log.append(batch);
  return log;
}

async function auditOf(t: Test, log: AuditedLog, has: 'prices' | 'hashes' = 'hashes', dir = emptyFolder(t)) {
  const folder = new AuditFolder(dir);
  const keep = (state: Parameters<AuditFolder['write']>[0]) => folder.write(state);
  const nowNs = () => startOf(log.entries.length);
  const audit = new LogAudit(
    { log: new ServedLog(log.read), policy: POLICY, has, keep, nowNs, delay: NO_DELAY, onFinding: () => {} },
    await folder.read(),
  );
  return (await audit.step()).evidence;
}

const proven = async (evidence: Evidence | undefined) => (await verdictOn(evidence)).statement;

test('an honest log of payloads passes its audit, which goes on from its folder', async (t) => {
  const dir = emptyFolder(t);
  const log = payloadLog(hashes(1, 2, 3), [], hashes(7));
  t.equal(await auditOf(t, log, 'hashes', dir), undefined);
  log.append(hashes(2, 5));
  t.equal(await auditOf(t, log, 'hashes', dir), undefined);
  const fork = payloadLog(hashes(1, 2, 3), [], hashes(8), hashes(2, 5), []);
  t.match(await proven(await auditOf(t, fork, 'hashes', dir)), /signed two pasts/);
});

test('faulty batches of a log of payloads are proven', async (t) => {
  const cases: [Uint8Array[], RegExp][] = [
    [hashes(1, 3, 2), /: its hashes are not in order$/],
    [hashes(1, 2, 2, 3), /: it has a hash twice$/],
    [[...hashes(1), new Uint8Array(7)], /: (its leaves are of two kinds|a leaf is neither)/],
  ];
  for (const [batch, fault] of cases)
    t.match(await proven(await auditOf(t, payloadLog(hashes(4), batch))), fault);
  const served = payloadLog(hashes(4), hashes(5));
  served.records[1] = hashes(6);
  t.match(await auditOf(t, served), {
    kind: 'observed',
    found: /records of batch 1 that do not have the root/,
  });
});

test('nobody can use the leaves of an honest log of payloads as evidence against the log of prices', async (t) => {
  t.match(await auditOf(t, payloadLog(hashes(1)), 'prices'), {
    kind: 'observed',
    found: /other kind of log/,
  });
  const log = payloadLog(hashes(1), hashes(2));
  const served = new ServedLog(log.read);
  const entry = Buffer.from(log.entries[1]!).toString();
  const records = [{ index: '0', record: Buffer.from(hashes(2)[0]!).toString('base64'), path: [] }];
  const made = { checkpoint: log.note(), batch: await served.prove(1n, entry, 2n), records };
  await t.rejects(proven({ kind: 'bad records', ...made }), { message: /records are as they must be/ });
  const price = signedPrice(startOf(1) + 5n, 1n);
  await t.rejects(proven({ kind: 'not in the log', price, ...made }), {
    message: /batch 1 .* has no prices/,
  });
});
