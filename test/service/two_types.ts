import type { Test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import type { SignatureType } from '../../src/model/asset.js';
import { FakeClock } from '../clock/fake_clock.js';
import { START_NS } from '../model/sample.js';
import { Feed, units } from './feed.js';
import { get, type Sections, startTestService, type TestService, TOKEN } from './harness.js';

// Functions for tests with two assets of the symbol BTCUSD, which have EVM publishers and Stark publishers.

export const START_S = Number(START_NS / 1_000_000_000n);
const asset = { clock_period: '24h', delta_percent: 0.000001 };
export const EVM = { ...asset, id: 1, symbol: 'BTCUSD' };
export const STARK = { ...asset, id: 2, symbol: 'BTCUSD', signature_type: 'stark', calendar: 'us_equities' };
export const OTHERS = [
  { ...asset, id: 3, symbol: 'ETHUSD' },
  { ...asset, id: 4, symbol: 'DYDXUSD', signature_type: 'stark' },
];
export const BOTH: Sections = { assets: [STARK, EVM, ...OTHERS] };

/** Sends a request to REST. Returns the text, and its `data` or `error`. */
export async function ask(service: TestService, path: string, token = TOKEN) {
  const response = await get(`${service.url}${path}`, { Authorization: `Basic ${token}` });
  const text = await response.text();
  return { status: response.status, text, ...(JSON.parse(text) as { data?: unknown; error?: string }) };
}

interface Both {
  readonly service: TestService;
  readonly clock: FakeClock;
  /** Publishes a price and waits until the service serves it. */
  price(type: SignatureType, symbol: string, count: number): Promise<void>;
}

/** Starts a service with a publisher connection of each type. */
export async function start(
  t: Test,
  options: { sections?: Sections; dir?: string; clock?: FakeClock } = {},
): Promise<Both> {
  const { sections = BOTH, clock = new FakeClock(), dir } = options;
  const service = await startTestService(sections, { clock, ...(dir !== undefined && { dir }) });
  t.teardown(() => service.stop());
  const nowNs = () => clock.nowNs();
  const feeds = {
    evm: await Feed.open(service, { nowNs, ack: 'durable' }),
    stark: await Feed.open(service, { type: 'stark', nowNs, ack: 'durable' }),
  };
  return {
    service,
    clock,
    async price(type, symbol, count) {
      await feeds[type].accept({ symbol, price: units(count) });
      await eventually(async () => (await servedAs(service, type, symbol)) === count);
    },
  };
}

/** Returns the price in whole units that `latest` serves. If the price has a wrong type, returns the name of the type. */
export async function servedAs(service: TestService, type: string | undefined, symbol: string) {
  const query = type === undefined ? '' : `&signature_type=${type}`;
  const { data } = await ask(service, `/v1/prices/latest?assets=${symbol}${query}`);
  const aggregate = (data as Record<string, { price: string; signature_type: string }> | undefined)?.[symbol];
  if (aggregate === undefined) return undefined;
  if (type !== undefined && aggregate.signature_type !== type) return aggregate.signature_type;
  return Number(BigInt(aggregate.price) / units(1));
}
