import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerExport } from '../../src/cli/export_command.js';
import { parseExactJson, writeExactJson } from '../../src/client/index.js';
import { systemClock } from '../../src/clock/clock.js';
import { PRICE_SCALE, type Price } from '../../src/model/price.js';
import { FakeClock } from '../clock/fake_clock.js';
import { NEEDS_PYTHON, readWithPython } from '../python_rows.js';
import { Feed } from '../service/feed.js';
import { get, startTestService, TOKEN } from '../service/harness.js';
import { runCommand } from './run_command.js';

const ROWS = 100;
const MINUTE_MS = 60_000;
const ASSETS = [
  { id: 1, symbol: 'BTCUSD', max_age: '24h', clock_period: '24h' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', max_age: '24h', clock_period: '24h' },
];

test(
  'exports have every digit of each aggregate, of both signature types and tiers',
  NEEDS_PYTHON,
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'tickseal-exports-'));
    const clock = new FakeClock(systemClock());
    const service = await startTestService(
      {
        assets: ASSETS,
        storage: { dir: join(dir, 'store'), past: { proofs: '1h', signatures: '90d' } },
        // Each price is signed, however fast this machine publishes.
        limits: { delta_aggregates_per_second: 10_000 },
      },
      { clock },
    );
    process.env['TICKSEAL_TOKEN'] = TOKEN;
    t.teardown(async () => {
      delete process.env['TICKSEAL_TOKEN'];
      await service.stop();
      rmSync(dir, { recursive: true });
    });
    const nowNs = () => clock.advance(1n);
    const feeds = {
      BTCUSD: await Feed.open(service, { nowNs, ack: 'durable' }),
      DYDXUSD: await Feed.open(service, { nowNs, ack: 'durable', type: 'stark' }),
    };
    let published = 0;
    const publish = async (count: number) => {
      for (const end = published + count; published < end; published++)
        for (const [symbol, feed] of Object.entries(feeds)) {
          clock.advanceMs(10);
          // Each price is far from the price before, so the service signs each price.
          const price = (BigInt(1 + (published % 2)) * 1_000n * PRICE_SCALE +
            BigInt(published) * 123_456_789_012_345_679n) as Price;
          await feed.accept({ symbol, price });
        }
    };
    // A range begins after the first aggregate.
    await publish(1);
    const fromNs = clock.nowNs();
    const linesOf = async (symbol: string) => {
      const range = `asset=${symbol}&from=${fromNs}&to=${clock.nowNs() + 1n}`;
      return (await (await get(`${service.url}/v1/prices/range?${range}`)).text()).split('\n').slice(0, -1);
    };
    await publish(ROWS);
    clock.advanceMs(4 * 60 * MINUTE_MS);
    await publish(ROWS);
    // The service removes the inputs with a later commit.
    await eventually(async () => {
      clock.advanceMs(2 * MINUTE_MS);
      await publish(1);
      return (await linesOf('BTCUSD')).some((line) => !line.includes('"signed_prices"'));
    });
    const to = clock.nowNs() + 1n;
    const lines = { BTCUSD: await linesOf('BTCUSD'), DYDXUSD: await linesOf('DYDXUSD') };

    const paths: string[] = [];
    for (const symbol of ['BTCUSD', 'DYDXUSD'] as const) {
      const path = join(dir, `${symbol} exported.parquet`);
      const keys = [service.evmAddress, service.starkPublicKey!].flatMap((key) => ['--signer', key]);
      const range = ['--from', String(fromNs), '--to', String(to)];
      const command = ['export', symbol, '--url', service.url, ...range, '-o', path, ...keys];
      const { exitCode, stderr } = await runCommand(registerExport, [...command, '--oracle-id', 'servc']);
      t.equal(exitCode, 0, stderr);
      const served = join(dir, `${symbol} served.parquet`);
      const query = `asset=${symbol}&from=${fromNs}&to=${to}&format=parquet`;
      const response = await get(`${service.url}/v1/prices/range?${query}`);
      writeFileSync(served, Buffer.from(await response.arrayBuffer()));
      paths.push(path, served);
    }
    for (const { library, path, types, rows } of await readWithPython(paths)) {
      const name = `${path.slice(dir.length + 1)}, ${library}`;
      const [time, decimal] =
        library === 'pyarrow' ? ['int64', 'decimal128(38, 18)'] : ['BIGINT', 'DECIMAL(38,18)'];
      t.match(types, { signed_at: time, timestamp: time, price: decimal }, name);
      const expected = lines[path.includes('BTCUSD') ? 'BTCUSD' : 'DYDXUSD'].map(columnsOf);
      t.same(rows, expected, name);
      const whole = expected.filter((row) => row.at(-1) !== null).length;
      t.ok(whole >= ROWS && expected.length - whole >= ROWS, `${name}: ${whole} whole of ${expected.length}`);
    }
  },
);

type Fields = Readonly<Record<string, unknown>>;

/** Returns the columns of an aggregate of NDJSON. */
function columnsOf(line: string): (string | null)[] {
  const { timestamp, asset_id, signature_type, trigger, price, signed_prices, ...rest } = parseExactJson(
    line,
  ) as Fields;
  const signed = Object.values(rest)[0] as Fields;
  const { timestamp: signedAt, msg_hash, signature } = signed['timestamped_signature'] as Fields;
  const { r, s, v } = signature as Fields;
  const { type, version, checksum } = signed['calculation_alg'] as Fields;
  return [
    ...[signedAt, timestamp, price, asset_id, signature_type, trigger],
    ...[signed['public_key'], signed['encoded_asset_id'], r, s, v, msg_hash],
    ...[signed['publisher_merkle_root'], type, version, checksum],
    signed_prices && writeExactJson(signed_prices as object),
  ].map((value) => (value === undefined || value === null ? null : String(value)));
}
