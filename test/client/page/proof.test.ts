import { test } from 'tap';
import { readAlgorithms } from '../../../src/client/page/answers.js';
import { type ForgedPrice, forgeAnswer, forgeFrame } from '../../../src/client/page/forgery.js';
import { proofOf } from '../../../src/client/page/proof.js';
import { stepOf } from '../../../src/client/page/proof_steps.js';
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

  const signedAtNs = proof(data)!.content!.signedAtNs;
  const { signed_prices: _inputs, ...withoutInputs } = data.BTCUSD as Record<string, unknown>;
  const past = (aggregate: object, atNs: bigint) =>
    proofOf(writeExactJson({ data: { BTCUSD: aggregate } }), 'BTCUSD', { ...expected, atNs });
  t.match(past(data.BTCUSD, signedAtNs), { report: { verdict: 'verified' } });
  t.match(
    past(withoutInputs, signedAtNs + 1n),
    { content: { price: units(95_000), publishers: [] }, report: { verdict: 'verified' } },
    'inputs may be gone in the past',
  );
  t.match(proof({ BTCUSD: withoutInputs }), { report: { verdict: 'failed' } }, 'but not in the present');
  t.match(past(data.BTCUSD, signedAtNs - 1n), { report: { verdict: 'failed' } }, 'signed after the instant');
  const other = { ...expected, algorithms: new Map([['median', 'other']]), atNs: signedAtNs };
  const unknown = proofOf(writeExactJson({ data: { BTCUSD: data.BTCUSD } }), 'BTCUSD', other);
  t.match(unknown, { content: { algorithmText: undefined }, report: { verdict: 'verified' } });

  const brokenSteps = (price: ForgedPrice, turn: number) => {
    const single = writeExactJson({ data: { BTCUSD: data.BTCUSD } });
    const forgery = forgeAnswer(single, price, turn)!;
    t.equal([...forgery.text].filter((one, i) => one !== single[i]).length, 1, 'one digit differs');
    const { checks, verdict } = proofOf(forgery.text, 'BTCUSD', expected)!.report;
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
