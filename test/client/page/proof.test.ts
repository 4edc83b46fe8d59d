import { test } from 'tap';
import { readAlgorithms } from '../../../src/client/page/answers.js';
import { proofOf } from '../../../src/client/page/proof.js';
import { parseExactJson, writeExactJson } from '../../../src/client/verify/exact_json.js';
import { REST_PATHS } from '../../../src/wire/paths.js';
import { Feed, units } from '../../service/feed.js';
import { get, startTestService } from '../../service/harness.js';

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
  };
  const { data } = parseExactJson(answer) as { data: Record<'AAA' | 'BTCUSD', object> };
  const proof = (values: object) => proofOf(writeExactJson({ data: values }), 'BTCUSD', expected);

  t.match(proof(data), {
    content: { price: units(95_000), algorithm: 'median', algorithmText: /median/i },
    report: { verdict: 'verified', assetId: 'BTCUSD' },
  });
  t.equal(proof({ AAA: data.AAA }), undefined, 'there is no live price');
  t.match(
    proof({ AAA: data.AAA, BTCUSD: { ...data.BTCUSD, price: '1' } }),
    { content: { price: 1n }, report: { verdict: 'failed' } },
    'beside a good one of another asset',
  );
  t.match(proof({ BTCUSD: data.AAA }), { report: { verdict: 'failed' } }, 'another asset under its name');
  t.match(proof({ BTCUSD: { price: '1' } }), {
    content: undefined,
    report: { verdict: 'failed', checks: [{ name: 'form', reason: /signature_type/ }] },
  });
});
