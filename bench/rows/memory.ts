import { startPricedService } from '../../scripts/load/priced_service.js';
import type { ServerProcess, StartOptions } from '../../scripts/load/server_process.js';
import { openStreams, type Streams } from '../../scripts/load/streams.js';
import { pause } from '../../scripts/load/wait.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';

/**
 * The connections that are open before the measured connections. While they open, V8 compiles the code of a connection and keeps the
 * memory of the compiler.
 */
const FIRST_CONNECTIONS: Readonly<Record<Scale, number>> = { full: 8_000, smoke: 10 };
const CONNECTIONS: Readonly<Record<Scale, number>> = { full: 10_000, smoke: 50 };
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 1_500, smoke: 20 };
/** The number of times that the server returns memory. V8 drops the code of functions that do not run only after several collections. */
const RETURNS = 8;
const RETURN_MS: Readonly<Record<Scale, number>> = { full: 300, smoke: 20 };
const MIB = 2 ** 20;
/**
 * The options of a server whose memory depends on its connections, and not on the work before. A fixed threshold makes the C library return
 * the memory that V8's threads have freed. Otherwise glibc raises the threshold, and `malloc_trim` returns the end of the main heap only.
 */
const MEASURED: StartOptions = {
  nodeOptions: `--max-semi-space-size=1 --import ${new URL('../../scripts/load/memory_probe.js', import.meta.url).href}`,
  probed: true,
  wrapper: ['env', `MALLOC_TRIM_THRESHOLD_=${2 ** 17}`],
};

export const memory: Row = {
  name: 'memory',
  title: 'Memory of 10,000 idle subscribers',
  method:
    'Anonymous memory of connections that have subscribed to one asset in real time, whose price does not change, beside bare uWebSockets.js with a topic. ' +
    'The first line compares a server with 8,000 connections and with 10,000 more, each time after a collection of the garbage. V8 has at most 1 MiB for new objects there ' +
    '(`--max-semi-space-size=1`), because it changes this memory with the work of the process. The C library returns what the threads of V8 have freed ' +
    '(`MALLOC_TRIM_THRESHOLD_`): otherwise they keep 2 to 4 MiB once, whatever the number of connections. ' +
    'The other line is a new process with V8’s own settings, before and 1.5 s after 10,000 connections.',
  limit:
    'Objects of a connection take 360 bytes more than uWebSockets.js: a socket (120), a session (112), what ties it to the binding (72), four ' +
    'places in lists (32) and its last time (24). ' +
    'A new process takes about 1,800 bytes more for each of its first 10,000 connections, once: ' +
    'V8 doubles the memory of new objects to 32 MiB. After some seconds without work, the next collection reduces it to 1 MiB.',
  rounds: 3,
  variants: {
    service: (scale) => measure(scale, startService),
    'bare uWS': (scale) => measure(scale, startBare),
    'new service': measureNew,
  },
  lines: () => [
    {
      name: 'per idle connection',
      unit: 'bytes',
      variant: 'service',
      figure: 'bytes per connection',
      peers: [{ variant: 'bare uWS', figure: 'bytes per connection', ratio: { atMost: 1.5 } }],
    },
    {
      name: 'whole new process with 10,000',
      unit: 'MiB',
      variant: 'new service',
      figure: 'MiB',
      shown: [{ name: 'before', unit: 'MiB', variant: 'new service', figure: 'MiB before' }],
    },
  ],
};

async function startService(start?: StartOptions): Promise<ServerProcess> {
  return (await startPricedService({ assets: 10, clockPeriod: '60s' }, start)).service;
}

function startBare(start: StartOptions): Promise<ServerProcess> {
  return startPeer('uws_publish', [], start);
}

async function measure(
  scale: Scale,
  start: (options: StartOptions) => Promise<ServerProcess>,
): Promise<Measurement> {
  const server = await start(MEASURED);
  const first = await open(server, FIRST_CONNECTIONS[scale], scale);
  const before = await heldBytes(server, scale);
  const measured = await open(server, CONNECTIONS[scale], scale);
  const after = await heldBytes(server, scale);
  await end(server, [first, measured]);
  return { figures: { 'bytes per connection': (after - before) / CONNECTIONS[scale] } };
}

async function measureNew(scale: Scale): Promise<Measurement> {
  const server = await startService();
  await pause(SETTLE_MS[scale]);
  const before = server.anonymousBytes();
  const measured = await open(server, CONNECTIONS[scale], scale);
  const after = server.anonymousBytes();
  await end(server, [measured]);
  return { figures: { 'MiB before': before / MIB, MiB: after / MIB } };
}

async function open({ port }: ServerProcess, count: number, scale: Scale): Promise<Streams> {
  const streams = await openStreams({ port, query: 'channel=real_time', count, assetsOf: () => [0] });
  await pause(SETTLE_MS[scale]);
  return streams;
}

/** Returns the anonymous memory that a server needs for its connections, without garbage and free memory. */
async function heldBytes(server: ServerProcess, scale: Scale): Promise<number> {
  for (let returns = 0; returns < RETURNS; returns++) {
    await server.ask('held bytes');
    await pause(RETURN_MS[scale]);
  }
  return server.anonymousBytes();
}

/** Ends a server that must still have all its connections. */
async function end(server: ServerProcess, all: readonly Streams[]): Promise<void> {
  for (const { closed } of all) if (closed > 0) throw new Error(`${closed} connections were closed`);
  for (const streams of all) streams.close();
  await server.stop();
}
