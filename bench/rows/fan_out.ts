import type { ServerProcess } from '../../scripts/load/server_process.js';
import { openStreams } from '../../scripts/load/streams.js';
import { measureUsage, type Usage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { type StartedPeer, startGo } from '../peers/go.js';
import { startPeer } from '../peers/start.js';
import { startPricedService } from '../workloads/priced_service.js';
import { unsignedFrame } from '../workloads/unsigned_frame.js';

export const ASSETS = 10;

interface FanOutLoad {
  readonly clients: number;
  readonly channelMs: number;
  /**
   * The time that V8 needs to compile the code of a tick. The time is long if only a few clients share a tick: with 100 ticks a second, V8's
   * threads take 60 to 190 µs a tick until 15 s, 30 to 60 until 20 s, and less than 15 later.
   */
  readonly settleMs: number;
  /** The smallest allowed ratios to the number of frames of each peer. */
  readonly ratios: Readonly<Record<'bare uWS' | 'npm ws', number>>;
}

/**
 * The loads. The numbers of clients and ticks are the largest numbers that one core can serve while the client runs on the other
 * core.
 */
const LOADS: Readonly<Record<Scale, readonly FanOutLoad[]>> = {
  full: [
    { clients: 100, channelMs: 10, settleMs: 25_000, ratios: { 'bare uWS': 0.8, 'npm ws': 1.3 } },
    { clients: 1_000, channelMs: 10, settleMs: 1_500, ratios: { 'bare uWS': 0.9, 'npm ws': 1.3 } },
    { clients: 5_000, channelMs: 100, settleMs: 1_500, ratios: { 'bare uWS': 0.9, 'npm ws': 1.3 } },
  ],
  smoke: [{ clients: 10, channelMs: 10, settleMs: 20, ratios: { 'bare uWS': 0.9, 'npm ws': 1.3 } }],
};
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 60 };

export const fanOut: Row = {
  name: 'fan-out',
  title: 'Fan-out: delivered frames per server core',
  method:
    'Unsigned frames of 10 assets to clients of one group: 100 and 1,000 at 10 ms, 5,000 at 100 ms. The peers send ' +
    'frames of the same bytes at the same interval: `app.publish` of uWebSockets.js alone, npm `ws`, and gobwas/ws in Go. ' +
    'Each server is paid by the frames that its clients received and its CPU ' +
    'time, at 100 clients after 25 s, in which V8 compiles the code of a tick. How fast it can be at most is shown by the bare `app.publish`: a tick that ' +
    'wakes the thread and a socket write a frame cost all the same.',
  limit:
    'At 100 clients the kernel, which writes 100 times a tick, has two thirds of the CPU time of the service and 88 % of bare ' +
    '`app.publish`, which the service cannot pass: see the lines at the end for what it is against the peers. Beside it, by a profile (`perf`, 15 s): ' +
    '9 % is the thread that wakes at the time of the tick, nearly all of it the kernel, which puts it to sleep and wakes it, 4 % its message, 3 % the frame, 4 % ' +
    'the clock and the other parts that have a tick. V8 compiles each function of a tick once, after some thousand ticks: its threads take 30 to 60 µs of 600 a tick after 15 s, and less than 15 after 25 s. The thread wakes once for a tick of all intervals, ' +
    'its message is empty, and the tick is one callback (`strace`): beside the writes of the frames, a tick makes four system calls more than bare `app.publish`. ' +
    'In a process that does nothing else, a wake-up by such a thread takes 115 to 150 µs of CPU time with a message of the worker or of a port, no less through a socket, and one by a timer of the event loop takes 60 to 75. ' +
    'But the ticks of such a timer are up to 1 ms late instead of 0.2, and with it the service takes 0.94 to 1.0 of the CPU time; to wait for the thread with `Atomics.waitAsync` instead of a ' +
    'message takes as long; a timer of the kernel (`timerfd`) in the event loop would save 20 to 40 µs of 1,300 a tick, by parts of Node that are not public. ' +
    'At 5,000 clients the service takes 1.05 to 1.09 of the CPU time of bare `app.publish` (medians of 5 and 6 turns); ' +
    'without any look at readers that do not read it takes as long.',
  rounds: 3,
  variants: {
    service: (scale) =>
      measure(scale, async () => (await startPricedService({ assets: ASSETS, clockPeriod: '60s' })).service),
    'bare uWS': (scale) =>
      measure(scale, ({ channelMs }) => startPeer('uws_publish', `${channelMs}`, unsignedFrame(ASSETS))),
    'npm ws': (scale) =>
      measure(scale, ({ channelMs }) => startPeer('ws_publish', `${channelMs}`, unsignedFrame(ASSETS))),
    Go: (scale) =>
      measure(scale, ({ channelMs }) => startGo(scale, 'fan_out', `${channelMs}`, unsignedFrame(ASSETS))),
  },
  lines: (scale) => [
    ...LOADS[scale].map(line),
    ...LOADS[scale].map(({ clients }) => limit(figureOf(clients))),
  ],
};

function figureOf(clients: number): string {
  return `${clients.toLocaleString('en-US')} clients`;
}

function limit(figure: string): Line {
  return {
    name: `the limit: bare app.publish, ${figure}`,
    of: 'bare app.publish',
    unit: 'frames/s per core',
    ours: { variant: 'bare uWS', figure },
    peers: [{ name: 'npm ws', source: { variant: 'npm ws', figure } }],
  };
}

function line({ clients, ratios }: FanOutLoad): Line {
  const figure = figureOf(clients);
  const against = (name: string, variant: keyof typeof ratios) => ({
    name,
    source: { variant, figure },
    ratio: { atLeast: ratios[variant] },
  });
  return {
    name: figure,
    unit: 'frames/s per core',
    ours: { variant: 'service', figure },
    peers: [
      against('bare app.publish', 'bare uWS'),
      against('npm ws', 'npm ws'),
      { name: 'gobwas/ws (Go)', source: { variant: 'Go', figure } },
    ],
    shown: [
      {
        name: 'delivered',
        unit: 'frames/s',
        source: { variant: 'service', figure: `${figure}: frames/s` },
      },
      { name: 'server', unit: 'cores', source: { variant: 'service', figure: `${figure}: server cores` } },
      { name: 'client', unit: 'cores', source: { variant: 'service', figure: `${figure}: client cores` } },
    ],
  };
}

async function measure(
  scale: Scale,
  start: (load: FanOutLoad) => Promise<StartedPeer>,
): Promise<Measurement> {
  const figures: Record<string, number> = {};
  for (const load of LOADS[scale]) {
    const server = await start(load);
    if ('missing' in server) return { figures: {}, missing: server.missing };
    const { frames, usage } = await measureFrames(server, load, scale);
    const figure = figureOf(load.clients);
    figures[figure] = frames / usage.serverCpuSeconds;
    figures[`${figure}: frames/s`] = frames / usage.wallSeconds;
    figures[`${figure}: server cores`] = usage.serverShare;
    figures[`${figure}: client cores`] = usage.clientShare;
    await server.stop();
  }
  return { figures };
}

/** Measures the number of frames of {@link ASSETS} assets that the clients of one group receive, and the cost of these frames. */
export async function measureFrames(
  server: ServerProcess,
  { clients, channelMs, settleMs }: Pick<FanOutLoad, 'clients' | 'channelMs' | 'settleMs'>,
  scale: Scale,
): Promise<{ readonly frames: number; readonly usage: Usage }> {
  const streams = await openStreams({
    port: server.port,
    query: `channel=${channelMs}ms`,
    count: clients,
    assetsOf: () => Array.from({ length: ASSETS }, (_, asset) => asset),
  });
  await pause(settleMs);
  const framesBefore = streams.frames;
  const end = measureUsage(server);
  await pause(MEASURE_MS[scale]);
  const frames = streams.frames - framesBefore;
  const usage = end();
  streams.close();
  return { frames, usage };
}
