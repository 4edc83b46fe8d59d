import { writeConfig } from '../../scripts/load/config.js';
import { publishFirstPrices } from '../../scripts/load/priced_service.js';
import { type ServerProcess, startService } from '../../scripts/load/server_process.js';
import { median } from '../../scripts/load/statistics.js';
import { storePast } from '../../scripts/load/stored_past.js';
import { openStreams } from '../../scripts/load/streams.js';
import { Updates } from '../../scripts/load/updates.js';
import { pause } from '../../scripts/load/wait.js';
import { NS_PER_SECOND } from '../../src/model/time.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { PROGRAM, runNode } from '../workloads/commands.js';
import { measureTakeOvers } from '../workloads/take_over.js';

const STARTS: Readonly<Record<Scale, number>> = { full: 5, smoke: 1 };
const ASSETS = 100;
const MANY_ASSETS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 10 };
/** The number of aggregates of each asset, one a second. Lines with five inputs of 3.5 kB make 1 GB of 286 aggregates of 1,000 assets. */
const AGGREGATES: Readonly<Record<Scale, number>> = { full: 286, smoke: 3 };
/** A time after which accepted prices are on the disk. */
const DURABLE_MS = 1_000;
/** The time after which the client library counts a connection as good, and some more. */
const STABLE_MS: Readonly<Record<Scale, number>> = { full: 5_500, smoke: 20 };
/** The longest time without a frame during a take-over, in seconds. */
const TAKE_OVER_S_MAX = 0.3;
const VERSION = 'tickseal --version';
const CHECK_CONFIG = 'tickseal check-config, 100 assets';
const BARE = 'node -e 0';
const SERVE = 'serve, 100 assets';
const SERVE_MANY = 'serve, 1,000 assets and 1 GB';
const FIRST_PRICE = 'from SIGKILL to the first price of a reader';

export const start: Row = {
  name: 'start',
  title: 'CPU time of a start',
  method:
    'CPU time of the commands, as bash measures it, beside `node -e 0`; and CPU time of all threads of `serve` from its start until its line `ready`: ' +
    'with 100 assets and an empty folder, and with 1,000 assets and a folder of 1 GB of lines of aggregates with five inputs. ' +
    'Then the service with 100 assets is killed with `SIGKILL` and started again, and a reader, which connects as soon as the port is open, waits for a price. ' +
    'At last `serve --take-over` takes over. The figure is the longest time between two verified ticks of a reader with the client library at 10 ms: ' +
    'quiet, and while another process uses a core all the time; with one thread that serves and with two.',
  limit:
    'Node 20 alone takes a quarter to three quarters of the CPU time of a command. From 22.8 on Node stores the compiled code of the program, and 20 compiles it at ' +
    "each start. The rest is the modules' run, the configuration, the verifier's tables and the worker. With 1 GB the start reads the newest snapshot and the log after it; " +
    'the hours of the past are read when somebody asks for them.',
  rounds: 1,
  variants: {
    commands: measureCommands,
    serve: measureServe,
    'many assets': measureManyAssets,
    'take-over': (scale) => measureTakeOver(scale, 1),
    'take-over, two threads': (scale) => measureTakeOver(scale, 2),
  },
  lines: () => [
    cpuLine(VERSION, 'commands', 0.15),
    cpuLine(CHECK_CONFIG, 'commands', 0.5),
    cpuLine(SERVE, 'serve', 1),
    cpuLine(SERVE_MANY, 'many assets', 1.8),
    { name: FIRST_PRICE, unit: 's', variant: 'serve', figure: FIRST_PRICE, bound: { atMost: 1 } },
    ...['take-over', 'take-over, two threads'].flatMap((variant) =>
      ['quiet', 'beside a busy process'].map((figure) => ({
        name: `${variant}, ${figure}: longest time without a frame`,
        unit: 's',
        variant,
        figure,
        bound: { atMost: TAKE_OVER_S_MAX },
      })),
    ),
  ],
};

function cpuLine(name: string, variant: string, atMost: number): Line {
  const shown = variant === 'commands' ? [{ name: BARE, unit: 's', variant, figure: BARE }] : [];
  return { name, unit: 's CPU time', variant, figure: name, bound: { atMost }, shown };
}

async function measureCommands(scale: Scale): Promise<Measurement> {
  const { file } = writeConfig({ signatureType: 'evm', publishers: 1, assets: ASSETS });
  const commands = {
    [VERSION]: [PROGRAM, '--version'],
    [CHECK_CONFIG]: [PROGRAM, 'check-config', file],
    [BARE]: ['-e', '0'],
  };
  const figures: Figures = {};
  for (const [name, args] of Object.entries(commands))
    figures[name] = median(Array.from({ length: STARTS[scale] }, () => runNode(args).cpuSeconds));
  return { figures };
}

async function measureServe(scale: Scale): Promise<Measurement> {
  const { file } = writeConfig({ signatureType: 'evm', publishers: 1, assets: ASSETS });
  const cpuSeconds: number[] = [];
  const priceSeconds: number[] = [];
  const updates = new Updates('evm');
  for (let i = 0; i < STARTS[scale]; i++) {
    const service = await startService(file);
    cpuSeconds.push(service.cpuSeconds());
    await publishFirstPrices(service.port, ASSETS, updates);
    await firstPrice(service);
    await pause(DURABLE_MS);
    const killedMs = performance.now();
    service.signal('SIGKILL');
    await service.ended;
    const next = await startService(file);
    await firstPrice(next);
    priceSeconds.push((performance.now() - killedMs) / 1_000);
    await next.stop();
  }
  return { figures: { [SERVE]: median(cpuSeconds), [FIRST_PRICE]: median(priceSeconds) } };
}

async function firstPrice({ port }: ServerProcess): Promise<void> {
  let received = () => {};
  const price = new Promise<void>((resolve) => {
    received = resolve;
  });
  const onFrame = () => received();
  const streams = await openStreams({ port, query: 'channel=10ms', count: 1, assetsOf: () => [0], onFrame });
  await price;
  streams.close();
}

async function measureManyAssets(scale: Scale): Promise<Measurement> {
  const assets = MANY_ASSETS[scale];
  const { file } = writeConfig({ signatureType: 'evm', publishers: 5, assets });
  await storePast(file, { aggregates: AGGREGATES[scale], stepNs: NS_PER_SECOND, unitNs: NS_PER_SECOND });
  const cpuSeconds: number[] = [];
  for (let i = 0; i < STARTS[scale]; i++) {
    const service = await startService(file);
    cpuSeconds.push(service.cpuSeconds());
    await service.stop();
  }
  return { figures: { [SERVE_MANY]: median(cpuSeconds) } };
}

async function measureTakeOver(scale: Scale, threads: number): Promise<Measurement> {
  const load = { assets: ASSETS, threads, count: STARTS[scale], pauseMs: STABLE_MS[scale] };
  return {
    figures: {
      quiet: median(await measureTakeOvers({ ...load, busyProcesses: 0 })),
      'beside a busy process': median(await measureTakeOvers({ ...load, busyProcesses: 1 })),
    },
  };
}
