import { test } from 'tap';
import { forgeAnswer } from '../../../src/client/page/forgery.js';
import { proofOf, readAlgorithms } from '../../../src/client/page/proof.js';
import { stepOf } from '../../../src/client/page/proof_checks.js';
import { parseExactJson, writeExactJson } from '../../../src/client/verify/exact_json.js';
import { REST_PATHS } from '../../../src/wire/paths.js';
import { Feed, units } from '../../service/feed.js';
import { get, startTestService } from '../../service/harness.js';

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
});
