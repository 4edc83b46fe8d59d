import { test } from 'tap';
import { registerVerify } from '../../src/cli/verify_command.js';
import { verifyAggregate } from '../../src/client/index.js';
import { runCommand } from '../cli/run_command.js';
import { FakeClock } from '../clock/fake_clock.js';
import { Feed, units } from './feed.js';
import { get, publisherSigner, startTestService } from './harness.js';
import { latestText, latestWhen, openPublisher, publish, UNIT } from './publishing.js';

// Tests that everybody can calculate a price again from what the service publishes. test/prices tests the books and triggers.

const PERIOD_MS = 500;
const PRICES = [500, 10, 13, -90].map(units);
const WEIGHTS = ['1', '2.5', '0.000001', '1'];
const EXPECTED = {
  median: units(23) / 2n,
  average: units(433) / 4n,
  // (500 + 25 + 0.000013 - 90) / 4.500001, truncated.
  'weighted average': (435_000_013n * 10n ** 18n) / 4_500_001n,
  'trimmed mean': units(23) / 2n,
};

test('the client and the command verify a price of each algorithm', async (t) => {
  const service = await startTestService({
    assets: Object.keys(EXPECTED).map((aggregation, id) => ({
      id,
      symbol: aggregation.replace(' ', '_'),
      aggregation,
      min_publishers: 4,
    })),
    publishers: WEIGHTS.map((weight, i) => ({
      key: publisherSigner(i + 1).publicKey,
      weight: Number(weight),
    })),
  });
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  const { data } = (await (await get(`${service.url}/v1/algorithms`)).json()) as {
    data: { type: string; definition: string }[];
  };
  const weights = Object.fromEntries(WEIGHTS.map((weight, i) => [publisherSigner(i + 1).publicKey, weight]));
  for (const [aggregation, expected] of Object.entries(EXPECTED)) {
    const symbol = aggregation.replace(' ', '_');
    for (const [i, price] of PRICES.entries()) await feed.accept({ symbol, price, publisher: i + 1 });
    const aggregate = await latestWhen(service, symbol);
    t.equal(aggregate.price, `${expected}`, aggregation);
    const keys = aggregate.signed_prices.map(({ publisher_key }) => BigInt(publisher_key));
    t.same(
      keys,
      [...keys].sort((a, b) => (a < b ? -1 : 1)),
      'sorted by key as a number',
    );
    const text = await latestText(service, symbol);
    const algorithmText = data.find(({ type }) => type === aggregation)!.definition;
    const options = { signers: [service.evmAddress], oracleId: 'servc', algorithmText, weights };
    const [report] = verifyAggregate(text, options);
    t.equal(report!.verdict, 'verified');
    t.same(
      report!.checks.filter(({ status }) => status !== 'ok'),
      [],
    );
    const [other] = verifyAggregate(text.replaceAll(`${expected}`, `${expected + 1n}`), options);
    t.ok(other!.checks.some(({ name, status }) => name === 'price' && status === 'failed'));
    const { stdout, exitCode } = await runCommand(
      registerVerify,
      ['verify', '--signer', service.evmAddress],
      {
        stdin: [`${text}\n`],
      },
    );
    t.equal(exitCode, 0, stdout.join('\n'));
    t.ok(
      stdout.some((line) => /^ok +checksum$/.test(line)),
      'the command knows the definition',
    );
  }
});

test('a frozen publisher does not count, is named, and comes back with its first move', async (t) => {
  const clock = new FakeClock();
  const numbers = [1, 2, 3];
  const service = await startTestService(
    {
      aggregation: { frozen_after: '0s', classes: { fx: { frozen_after: '10s' } } },
      assets: [{ id: 1, symbol: 'EURUSD', class: 'fx', clock_period: `${PERIOD_MS}ms` }],
      publishers: numbers.map((one) => ({ key: publisherSigner(one).publicKey })),
    },
    { clock },
  );
  t.teardown(() => service.stop());
  const socket = await openPublisher(service);
  const round = async (...prices: readonly bigint[]) => {
    for (const [i, price] of prices.entries()) {
      clock.advanceMs(1);
      const signer = publisherSigner(numbers[i]!);
      await publish(socket, [signer.sign({ symbol: 'EURUSD', price, timestampNs: clock.nowNs() })]);
    }
    clock.advanceMs(2 * PERIOD_MS);
  };
  const frozen = async () =>
    (await (await fetch(`${service.adminUrl}/metrics`)).text()).match(/^tickseal_publisher_frozen\{.*/gm);
  const pricesIn = async (price: bigint) =>
    (await latestWhen(service, 'EURUSD', (aggregate) => aggregate.price === String(price))).signed_prices
      .length;
  await round(100n * UNIT, 102n * UNIT, 90n * UNIT);
  t.equal(await pricesIn(100n * UNIT), 3);
  for (let i = 1n; i <= 10n; i++) await round((100n + i) * UNIT, (102n + i) * UNIT, 90n * UNIT);
  t.equal(await pricesIn(111n * UNIT), 2, 'the mean of the two others');
  const key = publisherSigner(3).publicKey.toLowerCase();
  t.same(await frozen(), [
    `tickseal_publisher_frozen{asset="EURUSD",signature_type="evm",publisher="${key}"} 1`,
  ]);
  await round(111n * UNIT, 115n * UNIT, 112n * UNIT);
  t.equal(await pricesIn(112n * UNIT), 3);
  t.same(await frozen(), null);
});
