import { test } from 'tap';
import { createCryptoJobs } from '../../../src/crypto/pool/jobs.js';
import type { TimedKey } from '../../../src/model/key_schedule.js';
import type { TimeNs } from '../../../src/model/time.js';
import { RENEW_NS, SignedStatements } from '../../../src/service/edge/signed_statements.js';
import { decodeStatementBody } from '../../../src/wire/taxonomy_statement.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { START_NS, sampleAsset } from '../../model/sample.js';
import { STATEMENT_VECTORS, VECTOR_KEY } from '../../wire/statement_vectors.js';

const jobs = createCryptoJobs();
const ALWAYS: readonly TimedKey[] = [{ key: VECTOR_KEY, fromNs: 0n as TimeNs, untilNs: undefined }];

function open(clock: FakeClock, { taxonomyId = 1, keys = ALWAYS } = {}) {
  let signed = 0;
  const statements = new SignedStatements({
    taxonomyId,
    keys: () => keys,
    clock,
    signOne(digest, key) {
      signed++;
      return jobs.signOneEvm(digest, key);
    },
  });
  return { statements, signedCount: () => signed };
}

const issuedOf = (statement: string | undefined) =>
  decodeStatementBody(Buffer.from(statement!.slice(2), 'hex').subarray(65)).issuedNs;

test('statements are those of the golden vectors', async (t) => {
  for (const { name, taxonomyId, issuedNs, assets, signature, body } of STATEMENT_VECTORS) {
    if (issuedNs === 0n) continue;
    const { statements } = open(new FakeClock(issuedNs), { taxonomyId });
    const expected = `0x${signature}${body.replaceAll(' ', '')}`;
    t.equal(statements.of(assets.map((asset) => sampleAsset(asset))), expected, name);
  }
});

test('a set of assets has one statement for an hour', async (t) => {
  const clock = new FakeClock(START_NS);
  const { statements, signedCount } = open(clock);
  const [one, two] = [sampleAsset({ id: 1 }), sampleAsset({ id: 2 })];
  const first = statements.of([one, two]);
  clock.timeNs += RENEW_NS - 1n;
  t.equal(statements.of([one, two]), first);
  t.not(statements.of([one]), first, 'another set has its own');
  t.equal(signedCount(), 2);
  clock.timeNs += 1n;
  t.equal(issuedOf(statements.of([one, two])), clock.timeNs);
  statements.clear();
  const changed = statements.of([sampleAsset({ id: 1, symbol: 'ETHUSD' }), two]);
  t.equal(issuedOf(changed), clock.timeNs + 1n, 'no two statements have the same time');
  clock.timeNs -= 10n ** 12n;
  statements.clear();
  t.equal(issuedOf(statements.of([one])), issuedOf(changed) + 1n, 'none looks older after a step back');
});

test('statements follow the keys of payloads to the nanosecond', async (t) => {
  const nextKey = Buffer.alloc(32, 8);
  const changeNs = (START_NS + 10n) as TimeNs;
  const keys = [
    { key: VECTOR_KEY, fromNs: 0n as TimeNs, untilNs: changeNs },
    { key: nextKey, fromNs: changeNs, untilNs: undefined },
  ];
  const clock = new FakeClock(START_NS);
  const { statements } = open(clock, { keys });
  const before = statements.of([sampleAsset()]);
  clock.timeNs = changeNs - 1n;
  t.equal(statements.of([sampleAsset()]), before);
  clock.timeNs = changeNs;
  const after = statements.of([sampleAsset()]);
  const { statements: ofNext } = open(clock, { keys: [{ ...keys[1]!, fromNs: 0n as TimeNs }] });
  t.equal(after, ofNext.of([sampleAsset()]));
});
