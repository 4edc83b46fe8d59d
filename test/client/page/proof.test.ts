import { type Test, test } from 'tap';
import type { LogFinding } from '../../../src/client/index.js';
import { forgeAnswer, forgeFrame } from '../../../src/client/page/forgery.js';
import { LogRing } from '../../../src/client/page/log_ring.js';
import { proofOf, readAlgorithms } from '../../../src/client/page/proof.js';
import { outcomeText, plainName, stepOf } from '../../../src/client/page/proof_checks.js';
import { parseExactJson, writeExactJson } from '../../../src/client/verify/exact_json.js';
import { verifyPayload } from '../../../src/client/verify/verify_payload.js';
import { REST_PATHS } from '../../../src/wire/paths.js';
import { Feed, units } from '../../service/feed.js';
import { get, startTestService } from '../../service/harness.js';
import { bodyOf, SIGNER, signed } from '../signed_payload.js';

const ASSETS = [
  { id: 1, symbol: 'AAA' },
  { id: 2, symbol: 'BTCUSD' },
];

test('a proof shows what it verifies', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'AAA', price: units(5) }, { symbol: 'BTCUSD', price: units(95_000) });
  const read = async (path: string) => (await get(service.url + path)).text();
  const answer = await read(`${REST_PATHS.latest}?assets=AAA,BTCUSD`);
  const expected = {
    signers: [service.evmAddress],
    oracleId: undefined,
    algorithms: readAlgorithms(await read(REST_PATHS.algorithms)),
    atNs: undefined,
  };
  const { data } = parseExactJson(answer) as { data: Record<'AAA' | 'BTCUSD', object> };
  const proof = (values: object) =>
    proofOf({ ...expected, answer: writeExactJson({ data: values }), symbol: 'BTCUSD' });

  t.match(proof(data), {
    form: { price: units(95_000), service: { algorithm: 'median' } },
    algorithmText: /median/i,
    report: { verdict: 'verified', assetId: 'BTCUSD' },
  });
  t.equal(proof({ AAA: data.AAA }), undefined, 'there is no live price');
  t.match(
    proof({ AAA: data.AAA, BTCUSD: { ...data.BTCUSD, price: '1' } }),
    { form: { price: 1n }, report: { verdict: 'failed' } },
    'beside a good one of another asset',
  );
  t.match(proof({ BTCUSD: data.AAA }), { report: { verdict: 'failed' } }, 'another asset under its name');
  t.match(proof({ BTCUSD: { price: '1' } }), {
    form: undefined,
    report: { verdict: 'failed', checks: [{ name: 'form', reason: /signature_type/ }] },
  });

  const signedAtNs = proof(data)!.form!.service.timestampNs;
  await t.test('the public log of a price', (t) => checkLog(t, answer));
  const { signed_prices: _inputs, ...withoutInputs } = data.BTCUSD as Record<string, unknown>;
  const past = (aggregate: object, atNs: bigint) =>
    proofOf({
      ...expected,
      answer: writeExactJson({ data: { BTCUSD: aggregate } }),
      symbol: 'BTCUSD',
      atNs,
    });
  t.match(past(data.BTCUSD, signedAtNs), { report: { verdict: 'verified' } });
  t.match(
    past(withoutInputs, signedAtNs + 1n),
    { form: { price: units(95_000), publishers: undefined }, report: { verdict: 'verified' } },
    'inputs may be gone in the past',
  );
  t.match(proof({ BTCUSD: withoutInputs }), { report: { verdict: 'failed' } }, 'but not in the present');
  t.match(past(data.BTCUSD, signedAtNs - 1n), { report: { verdict: 'failed' } }, 'signed after the instant');
  const other = { ...expected, algorithms: new Map([['median', 'other']]), atNs: signedAtNs };
  const unknown = proofOf({
    ...other,
    answer: writeExactJson({ data: { BTCUSD: data.BTCUSD } }),
    symbol: 'BTCUSD',
  });
  t.match(unknown, { algorithmText: undefined, report: { verdict: 'verified' } });

  const single = writeExactJson({ data: { BTCUSD: data.BTCUSD } });
  const broken = new Set<string>();
  for (let turn = 0; turn < 12; turn++) {
    const forgery = forgeAnswer(single, turn)!;
    t.equal([...forgery.text].filter((one, i) => one !== single[i]).length, 1, 'one digit differs');
    const { checks, verdict } = proofOf({ ...expected, answer: forgery.text, symbol: 'BTCUSD' })!.report;
    t.equal(verdict, 'failed', `turn ${turn}`);
    for (const check of checks) if (check.status === 'failed') broken.add(stepOf(check));
  }
  t.same([...broken].sort(), ['price', 'publishers', 'signature'], 'each price is forged in turn');
  t.equal(forgeAnswer('{"data":{}}', 0), undefined);
});

test('a frame with a changed digit is of another signer', async (t) => {
  for (const price of [units(95_000), -1n]) {
    const assets: [number, bigint, number][] = [
      [1, units(5), 1],
      [2, price, 1],
    ];
    const hex = signed(bodyOf({ taxonomyId: 1, timestampNs: 1_765_215_119_172_715_000n, assets }, true));
    for (const [turn, prefix] of [
      [0, ''],
      [19, '0x'],
      [20, '0x'],
    ] as const) {
      const received = prefix + hex.replace(/^0x/, '');
      const forgery = forgeFrame(received, 2, turn)!;
      t.not(forgery.text[forgery.at], forgery.before);
      const { checks, payload } = verifyPayload(forgery.text, { signers: [SIGNER] });
      t.match(outcomeText(checks, 'frame'), /^1 of \d+ checks of the frame failed: signer$/);
      t.equal(payload?.assets[0]?.value, units(5), 'the other asset is the same');
      t.not(payload?.assets[1]?.value, price);
    }
    t.equal(forgeFrame(hex, 3, 0), undefined);
  }
  t.equal(forgeFrame('0x12', 1, 0), undefined);
});

test('the outcome of checks names those that failed in plain words', async (t) => {
  const check = (name: string, status: 'ok' | 'failed' | 'skipped' = 'ok') => ({ name, status });
  const checks = [check('form'), check('price', 'failed'), check('checksum', 'skipped')];
  t.equal(outcomeText(checks, 'aggregate'), '1 of 2 checks of the aggregate failed: price from the inputs');
  t.equal(outcomeText(checks.slice(0, 1), 'frame'), '1 checks of the frame passed');
  t.same(
    ['publisher_merkle_root', 'signed_prices[1] signature', 'signed_price msg_hash', 'other'].map(plainName),
    ['Merkle root', 'signature of publisher 2', 'signed hash', 'other'],
  );
});

async function checkLog(t: Test, answer: string): Promise<void> {
  const find = (log: object | null, finding: Partial<Record<string, unknown>>, ageMs = 0) => {
    const client = {
      get: async () => JSON.stringify({ log }),
      searchLog: async () => finding as LogFinding,
    };
    const request = { answer, symbol: 'BTCUSD', signers: [], algorithms: new Map(), atNs: undefined };
    const ring = new LogRing(client, () => undefined);
    return ring.find({ ...request, oracleId: undefined }, 1_795_310_523_000_000_000n, ageMs);
  };
  const served = { policy: 'log K\nwitness W1 K\nwitness W2 K\nwitness W3 K\n', max_delay: 60 };
  const logged = {
    origin: 'log',
    record: 1n,
    batch: { batch: 7n },
    cosigners: new Map([
      ['W1', 1n],
      ['W2', 1n],
    ]),
  };
  t.match(await find(served, { logged }), {
    kind: 'logged',
    text: 'logged, 2 of 3 witnesses',
    statement: /record 1 in batch 7/,
  });
  t.match(await find({ ...served, policy: 'log K' }, { logged }), { text: 'logged, no witness' });
  t.match(await find(null, {}), { kind: 'none', text: '' });
  t.match(await find(served, { lacks: 'why' }), { kind: 'waiting', text: 'not logged yet' });
  t.match(await find(served, { lacks: 'why' }, 120_001), { kind: 'missing', statement: /: why\. .* 60 s/ });
  t.match(await find(served, { evidence: '{}', statement: 'it lies' }), {
    kind: 'denied',
    text: 'the log denies this price',
    evidence: ['tickseal-evidence.json', '{}'],
  });
  t.match(await find(served, { logged: undefined }, 1e9), {
    kind: 'waiting',
    text: 'the log was not checked',
  });
}
