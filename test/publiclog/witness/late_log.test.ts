import { test } from 'tap';
import { type ReadLogFile, ServedLog } from '../../../src/client/verify/served_log.js';
import { LogAudit } from '../../../src/publiclog/witness/log_audit.js';
import { AuditedLog, POLICY, signedPrice, startOf, verdictOn } from './audited_log.js';

// Tests of an audit of services whose streams say one thing while their logs say nothing.

const PROMISED_S = 21;
const SLACK_S = 15;
/** The time between two looks. */
const LOOK_S = 5;

/** Opens an audit with a fake clock. */
function auditOf(read: ReadLogFile) {
  const clock = { s: 0 };
  const findings: string[] = [];
  const audit = new LogAudit(
    {
      log: new ServedLog((path, max) => read(path, max)),
      policy: POLICY,
      nowNs: () => startOf(0),
      keep: async () => {},
      delay: { steadyMs: () => clock.s * 1_000, promisedMs: PROMISED_S * 1_000, slackMs: SLACK_S * 1_000 },
      onFinding: ({ kind, text }) => findings.push(`${kind}: ${text}`),
    },
    undefined,
  );
  return {
    audit,
    clock,
    findings,
    /** Looks at the log, and returns the evidence. A look that fails is an answer too. */
    async look() {
      clock.s += LOOK_S;
      const step = await audit.step().catch((error: Error) => ({ evidence: undefined, error }));
      return step.evidence;
    },
  };
}

/** Returns a validly signed price of a time after all batches of a log. */
function lieAfter(log: AuditedLog, n = 0): string {
  return signedPrice(startOf(log.entries.length + n) + 5n, 1n);
}

test('a price that no checkpoint covers in time is evidence, while the same old checkpoint is served', async (t) => {
  const log = new AuditedLog().grow(5);
  const { audit, clock, findings, look } = auditOf(log.read);
  t.equal(await look(), undefined);
  for (let n = 0; clock.s <= PROMISED_S + SLACK_S; n += 1) {
    audit.receive(lieAfter(log, n));
    t.equal(await look(), undefined, `${clock.s} s`);
    t.same(findings, []);
  }
  const evidence = await look();
  t.match(evidence, {
    kind: 'overdue',
    price: lieAfter(log),
    checkpoint: log.note(),
    found: /was received 40 s ago; the service promises 21 s, and the audit allows 15 s more/,
  });
  await t.rejects(verdictOn(evidence), /only the auditor saw it/);
  t.same(findings, ['no newer checkpoint: no newer checkpoint for 40 s; the newest has 5 entries']);
});

test('a log that serves nothing is late only while the stream shows that the service can be reached', async (t) => {
  for (const isStreaming of [true, false]) {
    const log = new AuditedLog().grow(5);
    const { audit, findings, look } = auditOf(async () => undefined);
    audit.receive(lieAfter(log));
    let evidence: unknown;
    for (let n = 0; n < 12; n += 1) {
      if (isStreaming) audit.receive(lieAfter(log, n));
      evidence ??= await look();
    }
    t.match(evidence, isStreaming ? { kind: 'overdue', checkpoint: '' } : undefined);
    t.match(findings[0], /^no newer checkpoint: .* for \d+ s; .*: the log does not serve checkpoint/);
  }
});

test('a smaller checkpoint is said, and a forked one is proven with the tree that the audit has kept', async (t) => {
  const log = new AuditedLog().grow(40);
  let read = log.read;
  const { findings, look } = auditOf((path, max) => read(path, max));
  t.equal(await look(), undefined);
  log.shownSize = 15;
  // The service rolled its tiles back too.
  const short = new AuditedLog().grow(15);
  read = short.read;
  t.equal(await look(), undefined);
  t.same(findings, [
    'smaller checkpoint: the log serves a checkpoint of 15 entries, which is smaller than before: 40',
  ]);
  const fork = new AuditedLog().grow(14);
  fork.append([]);
  read = fork.read;
  const evidence = await look();
  t.equal(evidence?.kind, 'fork');
  t.match(await verdictOn(evidence), {
    verdict: 'verified',
    statement: /its tree of 40 entries does not begin with its tree of 15/,
  });
});

test('an honest log that limits requests is read in several looks, without a finding', async (t) => {
  const log = new AuditedLog().grow(600);
  let left = 0;
  const { audit, clock, findings, look } = auditOf(async (path, max) => {
    if (left === 0) throw new Error('the answer is 429');
    left -= 1;
    return log.read(path, max);
  });
  for (let n = 0; audit.size < log.entries.length; n += 1) {
    left = n % 3 === 2 ? 0 : 50;
    log.grow(LOOK_S);
    audit.receive(log.prices.at(-1)!);
    t.equal(await look(), undefined);
  }
  t.ok(clock.s > 2 * (PROMISED_S + SLACK_S), 'the prices have waited for longer than their deadline');
  t.same(findings, []);
});
