import { test } from 'tap';
import { registerVerify } from '../../src/cli/verify_command.js';
import { verifyAggregate } from '../../src/client/index.js';
import { runCommand } from '../cli/run_command.js';
import { Feed, units } from './feed.js';
import { get, publisherSigner, startTestService } from './harness.js';
import { latestText, latestWhen } from './publishing.js';

// Tests that everybody can calculate a price again from what the service publishes. test/prices tests the books and triggers.

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
