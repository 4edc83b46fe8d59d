import { type Test, test } from 'tap';
import { RefusedError, UnreachableError } from '../../../src/client/index.js';
import { readAlgorithms } from '../../../src/client/page/answers.js';
import { type ForgedPrice, forgeAnswer, forgeFrame } from '../../../src/client/page/forgery.js';
import { PageLog } from '../../../src/client/page/page_log.js';
import { proofOf } from '../../../src/client/page/proof.js';
import { stepOf } from '../../../src/client/page/proof_checks.js';
import { readAggregate } from '../../../src/client/verify/aggregate_form.js';
import { parseExactJson, writeExactJson } from '../../../src/client/verify/exact_json.js';
import { placeOfAggregate, recordOfPrice } from '../../../src/client/verify/logged_price.js';
import { verifyPayload } from '../../../src/client/verify/verify_payload.js';
import { REST_PATHS } from '../../../src/wire/paths.js';
import { Feed, units } from '../../service/feed.js';
import { get, startTestService } from '../../service/harness.js';
import {
  batchesOf,
  proofOf as logProofOf,
  policyText,
  recordAt,
  SECOND_NS,
  WITNESSES,
} from '../../tlog/witnessed_log.js';
import { bodyOf, SIGNER, signed } from '../signed_payload.js';

const ASSETS = [
  { id: 1, symbol: 'AAA' },
  { id: 2, symbol: 'BTCUSD' },
];

test('a proof shows what it verifies', async (t) => {
  const service = await startTestService({ assets: ASSETS });
  t.teardown(() => service.stop());
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

  const brokenSteps = (price: ForgedPrice, turn: number) => {
    const single = writeExactJson({ data: { BTCUSD: data.BTCUSD } });
    const forgery = forgeAnswer(single, price, turn)!;
    t.equal([...forgery.text].filter((one, i) => one !== single[i]).length, 1, 'one digit differs');
    const { checks, verdict } = proofOf({ ...expected, answer: forgery.text, symbol: 'BTCUSD' })!.report;
    t.equal(verdict, 'failed');
    return new Set(checks.filter(({ status }) => status === 'failed').map(stepOf));
  };
  for (const turn of [0, 1, 22, 23]) {
    t.same(brokenSteps('publisher', turn), new Set(['publishers', 'price']));
    t.same(brokenSteps('aggregate', turn), new Set(['price', 'signature']));
  }
  t.equal(forgeAnswer('{"data":{}}', 'publisher', 0), undefined);
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
      t.equal(checks.find(({ name }) => name === 'signer')?.status, 'failed');
      t.equal(payload?.assets[0]?.value, units(5), 'the other asset is the same');
      t.not(payload?.assets[1]?.value, price);
    }
    t.equal(forgeFrame(hex, 3, 0), undefined);
  }
  t.equal(forgeFrame('0x12', 1, 0), undefined);
});

async function checkLog(t: Test, answer: string): Promise<void> {
  const { data } = parseExactJson(answer) as { data: Record<string, unknown> };
  const price = placeOfAggregate(readAggregate(data['BTCUSD']));
  const startNs = price.timeNs - (price.timeNs % SECOND_NS);
  const batches = batchesOf(3, (fromNs) => [recordAt(fromNs), recordOfPrice(price)], startNs);
  const others = batchesOf(3, (fromNs) => [recordAt(fromNs), recordAt(fromNs, 2)], startNs);
  const place = batches.records[0]!.findIndex((one) => Buffer.compare(one, recordOfPrice(price)) === 0);
  const logOf = (policy: string | undefined, proof: string | number) => {
    const asked: string[] = [];
    const log = new PageLog({
      async get(path) {
        asked.push(path);
        if (path === REST_PATHS.signers) return JSON.stringify({ log: policy && { policy, max_delay: 60 } });
        if (typeof proof === 'string') return proof;
        if (proof >= 500) throw new UnreachableError('http://x', 'the reason', path, proof);
        throw new RefusedError('http://x', proof, 'the reason');
      },
      searchLog: async () => ({ lacks: 'nothing' }),
    });
    const request = { answer, symbol: 'BTCUSD', signers: [], oracleId: undefined };
    return { asked, find: (waitedMs = 0) => log.find(request, waitedMs) };
  };
  const policy = policyText('group G 2 W1 W2 W3\nquorum G');
  const by = (count: number) => logProofOf(batches, 0, place, WITNESSES.slice(0, count));

  const { asked, find } = logOf(policy, by(2));
  const found = await find();
  t.match(found, { kind: 'logged', text: 'logged, 2 of 3 witnesses' });
  t.match(found.saved?.files, [{ name: 'BTCUSD.json' }, { name: 'BTCUSD.tlog-proof', text: by(2) }]);
  t.same(
    found.steps.map(({ title }) => title),
    ['Record', 'Leaf hash', 'Tree root', 'Checkpoint', 'Cosignatures'],
  );
  t.match(found.steps[4]!.facts, [
    ['W1', /UTC/],
    ['W2', /UTC/],
    ['W3', 'has not cosigned'],
  ]);
  await find();
  t.equal(asked.length, 3, 'the policy is read once');
  t.match(await logOf(policy, by(1)).find(), { kind: 'unwitnessed', text: 'logged, 1 of 3 witnesses' });
  t.match(await logOf(policyText('quorum none'), by(0)).find(), { kind: 'logged' });
  t.match(await logOf(undefined, 503).find(), { kind: 'none', text: '' });
  t.match(await logOf(policy, 503).find(), { kind: 'waiting', text: 'not logged yet' });
  t.match(await logOf(policy, 503).find(121_000), { kind: 'missing', statement: /After 121 s/ });
  t.match(await logOf(policy, 404).find(), { kind: 'missing', statement: /the reason/ });
  t.match(await logOf(policy, 500).find(), { kind: 'unknown', text: /the reason/ });
  t.match(await logOf('nonsense', by(2)).find(), { kind: 'unknown', text: /line 1 of the policy/ });
  for (const proof of [logProofOf(others, 0, 0), by(3).replace('index 0', 'index 1'), 'no proof'])
    t.match(await logOf(policy, proof).find(), { kind: 'failed', text: 'the log denies this price' });
}
