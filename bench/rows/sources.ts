import { writeConfig } from '../../scripts/load/config.js';
import { startService } from '../../scripts/load/server_process.js';
import { openStreams } from '../../scripts/load/streams.js';
import { pause } from '../../scripts/load/wait.js';
import type { Figures, Measurement, Row, Scale } from '../harness/row.js';
import { addPercentiles } from '../workloads/delays.js';
import { type Exchanges, openExchanges } from '../workloads/exchanges.js';
import { startPublishFrom } from '../workloads/market_processes.js';

const ASSETS: Readonly<Record<Scale, number>> = { full: 40, smoke: 3 };
const QUOTES_PER_SECOND: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 200 };
const WARM_UP_MS: Readonly<Record<Scale, number>> = { full: 8_000, smoke: 200 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 8_000, smoke: 200 };
const JUMPS: Readonly<Record<Scale, number>> = { full: 150, smoke: 3 };
/** The time between two jumps. This time is not a multiple of the interval at which all prices are published. */
const JUMP_MS = 53;
/** The time in which the price is published before its first jump. */
const SETTLE_MS = 1_000;
const MIB = 2 ** 20;
const SCALE = 10n ** 18n;

export const sources: Row = {
  name: 'sources',
  title: '5,000 quotes a second of 40 assets at 5 exchanges',
  method:
    'Local exchanges speak the protocols of Kraken, Coinbase, Bitstamp, Binance and OKX over sockets; they and the readers are the process of the bench. ' +
    'Bitstamp sends books of 100 levels, as the real one does. Each of 40 assets has a market at all five; the last two trade against USDT and are converted. ' +
    'CPU time is that of `publish --from` and the `sources` that it starts, together: sockets, parsing, a decision for each quote, signatures and answers. The delay is from the moment ' +
    'before an exchange shows a jump of 0.2 % until a subscriber of the service holds a frame with exactly that price, while the load goes on. ' +
    'Memory is the resident memory of `sources`, as `publish --from` starts it.',
  rounds: 3,
  variants: {
    'publish --from': measurePublish,
  },
  lines: () => [
    {
      name: 'reading, deciding and signing',
      unit: 'cores',
      variant: 'publish --from',
      figure: 'cores',
      bound: { atMost: 0.3 },
      shown: [{ name: 'quotes', unit: 'a second', variant: 'publish --from', figure: 'quotes a second' }],
    },
    {
      name: 'quote to accepted update, at `delta`',
      unit: 'ms p99',
      variant: 'publish --from',
      figure: 'delay: p99',
      bound: { atMost: 20 },
      shown: [{ name: 'p50', unit: 'ms', variant: 'publish --from', figure: 'delay: p50' }],
    },
    {
      name: 'resident memory of the reader',
      unit: 'MiB',
      variant: 'publish --from',
      figure: 'MiB',
    },
  ],
};

async function measurePublish(scale: Scale): Promise<Measurement> {
  const exchanges = await openExchanges(ASSETS[scale]);
  const config = writeConfig({ signatureType: 'evm', publishers: 1, assets: ASSETS[scale] });
  const service = await startService(config.file);
  const processes = await startPublishFrom(exchanges.sources, service.port);
  exchanges.start(QUOTES_PER_SECOND[scale]);
  const jumps = await openJumps(exchanges, service.port, ASSETS[scale] - 1);
  await pause(WARM_UP_MS[scale]);
  const startMs = performance.now();
  const startSeconds = processes.cpuSeconds();
  const startQuotes = exchanges.shown;
  await pause(MEASURE_MS[scale]);
  const seconds = (performance.now() - startMs) / 1_000;
  const figures: Figures = {
    cores: (processes.cpuSeconds() - startSeconds) / seconds,
    'quotes a second': (exchanges.shown - startQuotes) / seconds,
    MiB: processes.residentBytes() / MIB,
  };
  addPercentiles(figures, 'delay', await jumps.measure(JUMPS[scale]));
  jumps.close();
  await processes.stop();
  await service.stop();
  exchanges.stop();
  return { figures };
}

/** Makes one asset's price jump, and opens a subscriber that waits for the jumps. */
async function openJumps(exchanges: Exchanges, port: number, asset: number) {
  let awaited = '';
  let onArrival: () => void = () => {};
  const streams = await openStreams({
    port,
    query: 'channel=real_time',
    count: 1,
    assetsOf: () => [asset],
    onFrame: (payload) => {
      if (awaited !== '' && payload.includes(awaited)) onArrival();
    },
  });
  const jump = async (price: number): Promise<number> => {
    const arrived = new Promise<void>((resolve) => {
      onArrival = resolve;
    });
    awaited = `"v":"${BigInt(price) * SCALE}"`;
    const startMs = performance.now();
    exchanges.show(asset, price);
    await arrived;
    awaited = '';
    return performance.now() - startMs;
  };
  return {
    async measure(count: number): Promise<number[]> {
      // Until this point, the asset's price has moved at random.
      exchanges.show(asset, 100_000);
      await pause(SETTLE_MS);
      const delaysMs: number[] = [];
      for (let i = 0; i < count; i++) {
        delaysMs.push(await jump(i % 2 === 0 ? 100_200 : 100_000));
        await pause(JUMP_MS);
      }
      return delaysMs;
    },
    close: () => streams.close(),
  };
}
