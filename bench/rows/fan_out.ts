import { startPricedService } from '../../scripts/load/priced_service.js';
import type { ServerProcess } from '../../scripts/load/server_process.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { addCores, coresOf } from '../harness/used_cores.js';
import { startPeer } from '../peers/start.js';
import { firstAssets, measureFrames } from '../workloads/frames.js';
import { unsignedFrame } from '../workloads/stream_table.js';

const ASSETS = 10;

interface FanOutLoad {
  readonly clients: number;
  readonly channelMs: number;
  /**
   * The time that V8 needs to compile the code of a tick. The time is long if only a few clients share a tick: with 100 ticks a second, V8's
   * threads take 60 to 190 µs a tick until 15 s, 30 to 60 until 20 s, and less than 15 later.
   */
  readonly settleMs: number;
  /** The smallest allowed ratio to the number of frames of bare uWebSockets.js. */
  readonly ofBare: number;
}

/**
 * The loads. The numbers of clients and ticks are the largest numbers that one core can serve while the client runs on the other
 * core.
 */
const LOADS: Readonly<Record<Scale, readonly FanOutLoad[]>> = {
  full: [
    { clients: 100, channelMs: 10, settleMs: 25_000, ofBare: 0.8 },
    { clients: 1_000, channelMs: 10, settleMs: 1_500, ofBare: 0.9 },
    { clients: 5_000, channelMs: 100, settleMs: 1_500, ofBare: 0.9 },
  ],
  smoke: [{ clients: 10, channelMs: 10, settleMs: 20, ofBare: 0.9 }],
};
/** The smallest allowed ratio to the number of frames of the npm package `ws`. */
const OF_WS = 1.3;
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 60 };

export const fanOut: Row = {
  name: 'fan-out',
  title: 'Fan-out: delivered frames per server core',
  method:
    'Unsigned frames of 10 assets to clients of one group: 100 and 1,000 at 10 ms, 5,000 at 100 ms. The peers send ' +
    'frames of the same bytes at the same interval: `app.publish` of uWebSockets.js alone, and npm `ws`. ' +
    'Each server is paid by the frames that its clients received and its CPU ' +
    'time, at 100 clients after 25 s, in which V8 compiles the code of a tick.',
  limit:
    'By a profile of 100 clients on Node 24, a tick costs 627 µs of CPU time, and one of bare `app.publish` 518. Of both, about 500 µs are the kernel, which writes 100 times, and this part cannot shrink. ' +
    'The rest is the thread that wakes at the time of the tick (37 µs), and its message, the frame and the other parts that have a tick (72 µs). ' +
    'A timer of the event loop would take half the time for a wake-up, but its ticks are up to 1 ms late instead of 0.2. ' +
    'With 5,000 clients, the bare server itself has 1.3 times the frames of `ws`.',
  rounds: 3,
  variants: {
    service: (scale) =>
      measure(scale, async () => (await startPricedService({ assets: ASSETS, clockPeriod: '60s' })).service),
    'bare uWS': (scale) => measure(scale, (load) => startPublishing('uws_publish', load)),
    'npm ws': (scale) => measure(scale, (load) => startPublishing('ws_publish', load)),
  },
  lines: (scale) => LOADS[scale].map(line),
};

function figureOf(clients: number): string {
  return `${clients.toLocaleString('en-US')} clients`;
}

function line({ clients, ofBare }: FanOutLoad): Line {
  const figure = figureOf(clients);
  return {
    name: figure,
    unit: 'frames/s per core',
    variant: 'service',
    figure,
    peers: [
      { variant: 'bare uWS', figure, ratio: { atLeast: ofBare } },
      { variant: 'npm ws', figure, ratio: { atLeast: OF_WS } },
    ],
    shown: coresOf('service', figure),
  };
}

function startPublishing(peer: string, { channelMs }: FanOutLoad): Promise<ServerProcess> {
  return startPeer(peer, [`${channelMs}`, unsignedFrame(ASSETS)]);
}

async function measure(
  scale: Scale,
  start: (load: FanOutLoad) => Promise<ServerProcess>,
): Promise<Measurement> {
  const figures: Figures = {};
  for (const load of LOADS[scale]) {
    const server = await start(load);
    const query = `channel=${load.channelMs}ms`;
    const readers = { query, count: load.clients, assetsOf: () => firstAssets(ASSETS) };
    const times = { settleMs: load.settleMs, measureMs: MEASURE_MS[scale] };
    const usage = await measureFrames(server, readers, times);
    const figure = figureOf(load.clients);
    figures[figure] = usage.framesPerCpuSecond;
    addCores(figures, figure, usage);
    await server.stop();
  }
  return { figures };
}
