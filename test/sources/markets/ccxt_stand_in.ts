import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A call of a fake method that the test answers. */
export interface PendingCall {
  readonly method: string;
  readonly symbol: string;
  /** The number of the instance, from 1. */
  readonly instance: number;
  resolve(answer: object): void;
}

/** The test's side of the package that replaces ccxt. */
export interface StandIn {
  /** The methods that the exchange supports. */
  has: Record<string, boolean>;
  readonly calls: PendingCall[];
  instances: number;
  loads: number;
  readonly closed: number[];
}

const PACKAGE = `
export const control = { has: {}, calls: [], instances: 0, loads: 0, closed: [] };
const call = (instance, method) => (symbol) =>
  new Promise((resolve) => control.calls.push({ method, symbol, instance, resolve }));
class gate {
  constructor() {
    this.number = ++control.instances;
    this.has = control.has;
    for (const name of ['OrderBook', 'Ticker'])
      for (const verb of ['watch', 'unWatch', 'fetch']) this[verb + name] = call(this.number, verb + name);
  }
  async loadMarkets() {
    control.loads++;
    this.markets = Object.fromEntries(['BTC/USDT', 'ETH/USDT', 'OLD/USDT'].map((symbol) => [symbol, { symbol, active: symbol !== 'OLD/USDT' }]));
    return this.markets;
  }
  setMarkets(markets) { this.markets = markets; }
  async close() { control.closed.push(this.number); }
}
export default { exchanges: ['gate', 'gateio', 'kucoin'], pro: { gate }, gate };
`;

/** Installs the fake ccxt package in a folder. */
export async function installStandIn(folder: string): Promise<StandIn> {
  const home = join(folder, 'node_modules/ccxt');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"name":"ccxt","type":"module","main":"index.js"}');
  writeFileSync(join(home, 'index.js'), PACKAGE);
  const { control } = await import(pathToFileURL(join(home, 'index.js')).href);
  return control;
}
