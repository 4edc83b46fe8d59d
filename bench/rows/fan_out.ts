import type { ServerProcess } from '../../scripts/load/server_process.js';
import { openStreams } from '../../scripts/load/streams.js';
import { measureUsage, type Usage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';
import { startPricedService } from '../workloads/priced_service.js';
import { unsignedFrame } from '../workloads/unsigned_frame.js';

export const ASSETS = 10;

interface FanOutLoad {
  readonly clients: number;
  readonly channelMs: number;
}

/** As many clients and ticks as one core can serve while the client has the other. */
const LOADS: Readonly<Record<Scale, readonly FanOutLoad[]>> = {
  full: [
    { clients: 100, channelMs: 10 },
    { clients: 1_000, channelMs: 10 },
    { clients: 5_000, channelMs: 50 },
  ],
  smoke: [{ clients: 10, channelMs: 10 }],
};
/** Until V8 has compiled the code of a tick, on both sides. */
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 1_500, smoke: 20 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 60 };

export const fanOut: Row = {
  name: 'fan-out',
  title: 'Fan-out: delivered frames per server core',
  method:
    'Unsigned frames of 10 assets to clients of one group: 100 and 1,000 at 10 ms, 5,000 at 50 ms. The peers send ' +
    'frames of the same bytes at the same interval: `app.publish` of uWebSockets.js alone, and npm `ws`. Each server is ' +
    'paid by the frames that its clients received and its CPU time. How many times better than npm `ws` the service can ' +
    'be at most is shown by the bare `app.publish`: a tick that wakes the thread and a socket write a frame cost all the same.',
  limit:
    'At 100 clients a tick is 100 socket writes and two threads that wake, the ticker and the main one, where the peers ' +
    'wake one. A hundred ticks a second take 15 ms of CPU time of the ticker and 24 of the main thread when nobody ' +
    'listens, a third of it the delivery of the message between them, all of it on cold caches; that is what bare does ' +
    'not have. Against npm `ws` the socket writes, which are the same for all, are most of it: see the limit. A timer on ' +
    'the main thread alone would save half of it, at the price of ticks that are half a millisecond late; fewer system ' +
    'calls a frame are for uWebSockets.js to make.',
  rounds: 3,
  variants: {
    service: (scale) =>
      measure(scale, async () => (await startPricedService({ assets: ASSETS, clockPeriod: '60s' })).service),
    'bare uWS': (scale) => measure(scale, (ms) => startPeer('uws_publish', `${ms}`, unsignedFrame(ASSETS))),
    'npm ws': (scale) => measure(scale, (ms) => startPeer('ws_publish', `${ms}`, unsignedFrame(ASSETS))),
  },
  lines: (scale) => [
    ...LOADS[scale].map(({ clients }) => line(figureOf(clients))),
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

function line(figure: string): Line {
  return {
    name: figure,
    unit: 'frames/s per core',
    ours: { variant: 'service', figure },
    peers: [
      { name: 'bare app.publish', source: { variant: 'bare uWS', figure }, ratio: { atLeast: 0.9 } },
      { name: 'npm ws', source: { variant: 'npm ws', figure }, ratio: { atLeast: 1.3 } },
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
  start: (channelMs: number) => Promise<ServerProcess>,
): Promise<Measurement> {
  const figures: Record<string, number> = {};
  for (const load of LOADS[scale]) {
    const server = await start(load.channelMs);
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

/** The frames of {@link ASSETS} assets that the clients of one group receive, and what they cost. */
export async function measureFrames(
  server: ServerProcess,
  { clients, channelMs }: FanOutLoad,
  scale: Scale,
): Promise<{ readonly frames: number; readonly usage: Usage }> {
  const streams = await openStreams({
    port: server.port,
    query: `channel=${channelMs}ms`,
    count: clients,
    assetsOf: () => Array.from({ length: ASSETS }, (_, asset) => asset),
  });
  await pause(SETTLE_MS[scale]);
  const framesBefore = streams.frames;
  const end = measureUsage(server);
  await pause(MEASURE_MS[scale]);
  const frames = streams.frames - framesBefore;
  const usage = end();
  streams.close();
  return { frames, usage };
}
