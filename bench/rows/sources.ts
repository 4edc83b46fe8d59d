import { existsSync, statSync } from 'node:fs';
import { writeConfig } from '../../scripts/load/config.js';
import { startService } from '../../scripts/load/server_process.js';
import { percentile } from '../../scripts/load/statistics.js';
import { openStreams } from '../../scripts/load/streams.js';
import { eventually, pause } from '../../scripts/load/wait.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { EXCHANGES, type Exchanges, openExchanges } from '../workloads/exchanges.js';
import {
  type MarketProcesses,
  startPublishFrom,
  startSources,
  writeSources,
} from '../workloads/market_processes.js';

const ASSETS: Readonly<Record<Scale, number>> = { full: 40, smoke: 3 };
const QUOTES_PER_SECOND: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 200 };
const WARM_UP_MS: Readonly<Record<Scale, number>> = { full: 8_000, smoke: 200 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 8_000, smoke: 200 };
const JUMPS: Readonly<Record<Scale, number>> = { full: 150, smoke: 3 };
/** The time between two jumps. This time is not a multiple of the interval at which all prices are published. */
const JUMP_MS = 53;
/** The time in which the price is published before its first jump. */
const SETTLE_MS = 1_000;
const SOURCES = 5;
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
    'Memory is the resident memory of `sources`, as `publish --from` starts it, with six exchanges. Recording is compared by the CPU time of two processes of `sources` that read the same exchanges at the same time, one with `--record`.',
  limit:
    'A recording at this load is 6.8 MiB a second. With and without a recorder in turns in one process, a recorded frame of 1.4 KB takes 1.5 µs of CPU more: ' +
    'the system call that copies its bytes to the page cache 0.55 µs, copying its text to the buffer 0.25 µs, searching it for line ends 0.12 µs and formatting its time 0.08 µs; ' +
    'the rest is reading that becomes slower, because the copies use the same caches. Only fewer bytes would cost much less, and a recording has every byte that came. ' +
    'The bound is a ratio of the two processes; of a core, a recording takes 1 to 2 %.',
  // An even number has each order of the two processes of a recording equally often.
  rounds: 4,
  variants: {
    'publish --from': measurePublish,
    'six exchanges': measureMemory,
    recording: measureRecording,
  },
  lines: () => [
    {
      name: 'reading, deciding and signing',
      unit: 'cores',
      ours: { variant: 'publish --from', figure: 'cores' },
      bound: { atMost: 0.3 },
      peers: [],
      shown: [
        {
          name: 'quotes',
          unit: 'a second',
          source: { variant: 'publish --from', figure: 'quotes a second' },
        },
      ],
    },
    {
      name: 'quote to accepted update, at `delta`',
      unit: 'ms p99',
      ours: { variant: 'publish --from', figure: 'delay: p99' },
      bound: { atMost: 20 },
      peers: [],
      shown: [{ name: 'p50', unit: 'ms', source: { variant: 'publish --from', figure: 'delay: p50' } }],
    },
    {
      name: 'resident memory with six exchanges',
      unit: 'MiB',
      ours: { variant: 'six exchanges', figure: 'MiB' },
      bound: { atMost: 90e6 / MIB },
      peers: [],
    },
    {
      name: 'recording',
      unit: 'CPU ms a second',
      ours: { variant: 'recording', figure: 'with: CPU ms a second' },
      peers: [
        {
          name: 'without a recording',
          source: { variant: 'recording', figure: 'without: CPU ms a second' },
          ratio: { atMost: 1.05 },
        },
      ],
      shown: [
        {
          name: 'recorded',
          unit: 'MiB a second',
          source: { variant: 'recording', figure: 'MiB a second' },
        },
      ],
    },
  ],
};

async function measurePublish(scale: Scale): Promise<Measurement> {
  const exchanges = await openExchanges(SOURCES, ASSETS[scale]);
  const config = writeConfig({ signatureType: 'evm', publishers: 1, assets: ASSETS[scale] });
  const service = await startService(config.file);
  const processes = await startPublishFrom(writeSources(exchanges.sources), service.port);
  exchanges.start(QUOTES_PER_SECOND[scale]);
  const jumping = ASSETS[scale] - 1;
  const jumps = await openJumps(exchanges, service.port, jumping);
  await pause(WARM_UP_MS[scale]);
  const figures = await measureLoad(scale, exchanges, processes);
  const delaysMs = await jumps.measure(JUMPS[scale]);
  jumps.close();
  await processes.stop();
  await service.stop();
  exchanges.stop();
  return {
    figures: {
      ...figures,
      'delay: p50': percentile(delaysMs, 50),
      'delay: p99': percentile(delaysMs, 99),
    },
  };
}

async function measureMemory(scale: Scale): Promise<Measurement> {
  const exchanges = await openExchanges(EXCHANGES.length, ASSETS[scale]);
  const config = writeConfig({ signatureType: 'evm', publishers: 1, assets: ASSETS[scale] });
  const service = await startService(config.file);
  const processes = await startPublishFrom(writeSources(exchanges.sources), service.port);
  exchanges.start(QUOTES_PER_SECOND[scale]);
  await pause(WARM_UP_MS[scale]);
  await pause(MEASURE_MS[scale]);
  const figures = { MiB: processes.residentBytes() / MIB };
  await processes.stop();
  await service.stop();
  exchanges.stop();
  return { figures };
}

let isRecordingFirst = false;

/**
 * Measures two processes at the same time, so that both have the same load on the same processor. One process records. At full scale,
 * a machine's speed changes between two runs by more than a recording costs.
 */
async function measureRecording(scale: Scale): Promise<Measurement> {
  const exchanges = await openExchanges(SOURCES, ASSETS[scale]);
  const file = writeSources(exchanges.sources);
  const recording = `${file}.recording`;
  // The exchanges serve connections in their order, so each round starts the two processes in the other order.
  isRecordingFirst = !isRecordingFirst;
  const early = await startSources(file, isRecordingFirst ? recording : undefined);
  const late = await startSources(file, isRecordingFirst ? undefined : recording);
  const [recorded, plain] = isRecordingFirst ? [early, late] : [late, early];
  await eventually(() => existsSync(recording), { what: 'the recording' });
  exchanges.start(QUOTES_PER_SECOND[scale]);
  await pause(WARM_UP_MS[scale]);
  const bytesBefore = statSync(recording).size;
  const startMs = performance.now();
  const recordedSeconds = recorded.cpuSeconds();
  const plainSeconds = plain.cpuSeconds();
  await pause(MEASURE_MS[scale]);
  const seconds = (performance.now() - startMs) / 1_000;
  const figures = {
    'with: CPU ms a second': ((recorded.cpuSeconds() - recordedSeconds) / seconds) * 1_000,
    'without: CPU ms a second': ((plain.cpuSeconds() - plainSeconds) / seconds) * 1_000,
    'MiB a second': (statSync(recording).size - bytesBefore) / seconds / MIB,
  };
  await recorded.stop();
  await plain.stop();
  exchanges.stop();
  return { figures };
}

/** Measures the CPU time during the load. */
async function measureLoad(
  scale: Scale,
  exchanges: Exchanges,
  processes: MarketProcesses,
): Promise<{ cores: number; 'quotes a second': number }> {
  const startMs = performance.now();
  const startSeconds = processes.cpuSeconds();
  const startQuotes = exchanges.shown;
  await pause(MEASURE_MS[scale]);
  const seconds = (performance.now() - startMs) / 1_000;
  return {
    cores: (processes.cpuSeconds() - startSeconds) / seconds,
    'quotes a second': (exchanges.shown - startQuotes) / seconds,
  };
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
