import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../../scripts/load/config.js';
import { type ServerProcess, startService } from '../../scripts/load/server_process.js';
import { median } from '../../scripts/load/statistics.js';
import { openStreams } from '../../scripts/load/streams.js';
import { Updates } from '../../scripts/load/updates.js';
import { pause } from '../../scripts/load/wait.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { fillStore } from '../workloads/filled_store.js';
import { publishFirstPrices } from '../workloads/priced_service.js';
import { measureTakeOvers } from '../workloads/take_over.js';

const STARTS: Readonly<Record<Scale, number>> = { full: 5, smoke: 1 };
const ASSETS = 100;
const MANY_ASSETS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 10 };
const STORE_BYTES: Readonly<Record<Scale, number>> = { full: 1e9, smoke: 1e5 };
/** A time after which accepted prices are on the disk. */
const DURABLE_MS = 1_000;
/** The time after which the client library counts a connection as good, and some more. */
const STABLE_MS: Readonly<Record<Scale, number>> = { full: 5_500, smoke: 20 };
/** The longest time without a frame during a take-over, in seconds. */
const TAKE_OVER_S_MAX = 0.3;
const PROGRAM = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

export const start: Row = {
  name: 'start',
  title: 'CPU time of a start',
  method:
    'CPU time of the commands, as bash measures it, beside `node -e 0`; and CPU time of all threads of `serve` from its start until ' +
    'its line `ready`: with 100 assets and an empty folder, and with 1,000 assets and a folder of 1 GB of lines of aggregates with five inputs. ' +
    'Then the service with 100 assets is killed with `SIGKILL` and started again. The time is from the kill until a reader, which connects ' +
    'as soon as the port is open, has its first frame with a price. Each figure is the median of five. ' +
    'At last `serve --take-over` takes over from a service with 100 assets. The figure is the longest time between two verified ticks of a reader with the ' +
    'client library at 10 ms: quiet, and while another process uses one of the cores all the time; with one thread that serves and with two.',
  limit:
    'A bare Node 20 takes a quarter to three quarters of the CPU time of a command. From 22.8 on Node stores the compiled code of the program, and 20 compiles it at ' +
    "each start. The rest is the modules' run, the configuration, the verifier's tables and the worker. With 1 GB " +
    'the start reads each page and each key of the folder once, because lmdb follows damaged page numbers without a check.',
  rounds: 1,
  variants: {
    commands: measureCommands,
    serve: measureServe,
    'many assets': measureManyAssets,
    'take-over': (scale) => measureTakeOver(scale, 1),
    'take-over, two threads': (scale) => measureTakeOver(scale, 2),
  },
  lines: () => [
    { ...cpuLine('tickseal --version', 'commands', 0.15), shown: [BARE] },
    { ...cpuLine('tickseal check-config, 100 assets', 'commands', 0.5), shown: [BARE] },
    cpuLine('serve, 100 assets', 'serve', 1),
    cpuLine('serve, 1,000 assets and 1 GB', 'many assets', 1.8),
    {
      name: 'from SIGKILL to the first price of a reader',
      unit: 's',
      ours: { variant: 'serve', figure: 'first price, s' },
      bound: { atMost: 1 },
      peers: [],
    },
    ...['take-over', 'take-over, two threads'].flatMap((variant) => [
      takeOverLine(variant, 'quiet'),
      takeOverLine(variant, 'beside a busy process'),
    ]),
  ],
};

function takeOverLine(variant: string, figure: string) {
  return {
    name: `${variant}, ${figure}: longest time without a frame`,
    unit: 's',
    ours: { variant, figure },
    bound: { atMost: TAKE_OVER_S_MAX },
    peers: [],
  };
}

const BARE = { name: 'node -e 0', unit: 's', source: { variant: 'commands', figure: 'node -e 0' } };

function cpuLine(name: string, variant: string, atMost: number) {
  return { name, unit: 's CPU time', ours: { variant, figure: name }, bound: { atMost }, peers: [] };
}

async function measureCommands(scale: Scale): Promise<Measurement> {
  const { file } = writeConfig({ signatureType: 'evm', publishers: 1, assets: ASSETS });
  const commands = {
    'tickseal --version': [PROGRAM, '--version'],
    'tickseal check-config, 100 assets': [PROGRAM, 'check-config', file],
    'node -e 0': ['-e', '0'],
  };
  const figures: Record<string, number> = {};
  for (const [name, args] of Object.entries(commands))
    figures[name] = median(Array.from({ length: STARTS[scale] }, () => cpuSecondsOfCommand(args)));
  return { figures };
}

/** Runs Node with these arguments, and returns its CPU time. The `time` of bash has a precision of 1 ms. */
function cpuSecondsOfCommand(args: readonly string[]): number {
  const script = 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>/dev/null';
  const { stderr } = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...args], {
    encoding: 'utf8',
  });
  const [user, system] = stderr.trim().split(' ').map(Number);
  return user! + system!;
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
  return { figures: { 'serve, 100 assets': median(cpuSeconds), 'first price, s': median(priceSeconds) } };
}

async function firstPrice({ port }: ServerProcess): Promise<void> {
  let received = () => {};
  const price = new Promise<void>((resolve) => {
    received = resolve;
  });
  const streams = await openStreams({
    port,
    query: 'channel=10ms',
    count: 1,
    assetsOf: () => [0],
    onFrame: () => received(),
  });
  await price;
  streams.close();
}

async function measureManyAssets(scale: Scale): Promise<Measurement> {
  const { file } = writeConfig({ signatureType: 'evm', publishers: 5, assets: MANY_ASSETS[scale] });
  const storeBytes = await fillStore(file, STORE_BYTES[scale]);
  const cpuSeconds: number[] = [];
  for (let i = 0; i < STARTS[scale]; i++) {
    const service = await startService(file);
    cpuSeconds.push(service.cpuSeconds());
    await service.stop();
  }
  return {
    figures: { 'serve, 1,000 assets and 1 GB': median(cpuSeconds), 'bytes of the store': storeBytes },
  };
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
