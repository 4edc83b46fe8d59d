import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Test, test } from 'tap';
import { type Account, changed, missing } from '../../scripts/torture/account.js';
import { isReached } from '../../scripts/torture/check.js';
import { KeptPrices } from '../../scripts/torture/kept_prices.js';
import { SignedValues } from '../../scripts/torture/signed_values.js';

/** A service that answers with texts that a test sets, by path without the host. Other paths are 404. */
interface FakeService {
  readonly port: number;
  readonly answers: Map<string, { readonly status?: number; readonly link?: string; readonly body: string }>;
}

async function fakeService(t: Test): Promise<FakeService> {
  const answers: FakeService['answers'] = new Map();
  const server = createServer(({ url }, response) => {
    const { status = 200, link, body } = answers.get(url!) ?? { status: 404, body: '{"error":"nothing"}' };
    response.writeHead(status, link === undefined ? {} : { Link: `<${link}>; rel="next"` }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return { port: (server.address() as AddressInfo).port, answers };
}

function aggregateText(timeNs: bigint, price: bigint): string {
  return (
    `{"price":"${price}","service_signed_price":{"public_key":"0x1","timestamped_signature":` +
    `{"timestamp":${timeNs}}},"signed_prices":[]}`
  );
}

const HOLE = '{"error":"lost","damaged":{"from":21,"to":39}}';

/** Shows aggregates of the times 10, 20, 30 and 40, as a kill leaves them: 30 is lost, and the past says so. */
async function shownBeforeKill(t: Test) {
  const { port, answers } = await fakeService(t);
  const kept = new KeptPrices();
  const text = (timeNs: bigint) => aggregateText(timeNs, 5n);
  kept.show([10n, 20n, 30n, 40n].map((timeNs) => ({ symbol: 'A0', timeNs, text: text(timeNs) })));
  kept.killed();
  const range = (from: number) => `/v1/prices/range?asset=A0&from=${from}&to=41`;
  const at = (timeNs: number) => `/v1/prices/at?assets=A0&timestamp=${timeNs}`;
  answers.set(range(10), { body: `${text(10n)}\n${text(20n)}\n`, link: range(21) });
  answers.set(range(21), { status: 410, body: HOLE, link: range(40) });
  answers.set(range(40), { body: `${text(40n)}\n` });
  answers.set(at(30), { status: 410, body: HOLE });
  answers.set(at(40), { body: `{"data":{"A0":${text(40n)}}}` });
  const results = async () => {
    await kept.compare(port, 0n, 100n);
    const findings = kept.findings();
    const [all, otherValue, unmarked, lost] = findings.map(({ value }) => value);
    return { all, otherValue, unmarked, lost, holds: findings.every((one) => isReached(one, 'full')) };
  };
  return { answers, range, at, text, results };
}

test('an aggregate that a kill has cost is a hole of the past', async (t) => {
  const { results } = await shownBeforeKill(t);
  t.same(await results(), { all: 4, otherValue: 0, unmarked: 0, lost: 1, holds: true });
});

test('another value in the past is counted, from either route', async (t) => {
  for (const route of ['range', 'at'] as const) {
    const { answers, range, at, text, results } = await shownBeforeKill(t);
    const other = aggregateText(40n, 6n);
    if (route === 'range')
      answers.set(range(10), { body: `${aggregateText(10n, 6n)}\n${text(20n)}\n`, link: range(21) });
    else answers.set(at(40), { body: `{"data":{"A0":${other}}}` });
    t.same(await results(), { all: 4, otherValue: 1, unmarked: 0, lost: 1, holds: false }, route);
  }
});

test('an aggregate that is missing without a hole is counted', async (t) => {
  const bends: Readonly<Record<string, (service: Awaited<ReturnType<typeof shownBeforeKill>>) => void>> = {
    'an older price': ({ answers, at, text }) =>
      answers.set(at(30), { body: `{"data":{"A0":${text(20n)}}}` }),
    'no price': ({ answers, at }) => answers.delete(at(30)),
    'a hole that ends too early': ({ answers, at }) =>
      answers.set(at(30), { status: 410, body: '{"error":"lost","damaged":{"from":21,"to":29}}' }),
    'a range without the hole': ({ answers, range, text }) =>
      answers.set(range(10), { body: [10n, 20n, 40n].map((timeNs) => `${text(timeNs)}\n`).join('') }),
  };
  for (const [name, bend] of Object.entries(bends)) {
    const service = await shownBeforeKill(t);
    bend(service);
    t.same(await service.results(), { all: 4, otherValue: 0, unmarked: 1, lost: 0, holds: false }, name);
  }
});

test('times that go back, and a second value of one time, are counted for aggregates', async (t) => {
  const { port, answers } = await fakeService(t);
  const values = new SignedValues();
  const poll = async (text: string) => {
    answers.set('/v1/prices/latest?assets=A0', { body: `{"data":{"A0":${text}}}` });
    await values.poll(port, ['A0'], 'reader');
    const byName = new Map(values.findings().map(({ figure, value }) => [figure.trim(), value]));
    return [
      byName.get('times of aggregates that go back for one reader'),
      byName.get('two under one key, asset and time'),
    ];
  };
  t.same(await poll(aggregateText(20n, 5n)), [0, 0]);
  t.same(await poll(aggregateText(20n, 5n)), [0, 0]);
  t.same(await poll(aggregateText(10n, 5n)), [1, 0], 'a restarted service shows an older aggregate');
  t.same(await poll(aggregateText(20n, 6n)), [1, 1], 'a restarted service signs another value of the time');
});

test('an acknowledged update is lost when only older ones are found, and changed when it has another price', async (t) => {
  const acknowledged: Account = new Map([['key A0', { timestampNs: 20n, price: 5n }]]);
  const counts = (timestampNs: bigint, price: bigint) => {
    const found: Account = new Map([['key A0', { timestampNs, price }]]);
    return [missing(acknowledged, found), changed(acknowledged, found)];
  };
  t.same(counts(20n, 5n), [0, 0]);
  t.same(counts(21n, 6n), [0, 0]);
  t.same(counts(19n, 5n), [1, 0]);
  t.same(counts(20n, 6n), [0, 1]);
});
