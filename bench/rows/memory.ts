import type { ServerProcess } from '../../scripts/load/server_process.js';
import { openStreams } from '../../scripts/load/streams.js';
import { pause } from '../../scripts/load/wait.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';
import { startPricedService } from '../workloads/priced_service.js';

const CONNECTIONS: Readonly<Record<Scale, number>> = { full: 10_000, smoke: 50 };
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 1_500, smoke: 20 };
const MIB = 2 ** 20;

export const memory: Row = {
  name: 'memory',
  title: 'Memory of 10,000 idle subscribers',
  method:
    'Anonymous memory of the server before and after 10,000 connections that have subscribed to one asset in real time, ' +
    'whose price does not change. Bare uWebSockets.js has the same connections subscribed to a topic.',
  limit:
    'Beside uWebSockets.js a connection takes 350 bytes of objects: a session (128), a socket (120), what ties it to the ' +
    'binding (72) and three places in lists (32). Half of the figure is the memory of young objects, which the first connections make V8 enlarge, ' +
    'once: with `--max-semi-space-size=1` it is 1,620 bytes, and the process with 10,000 is 71 MiB.',
  rounds: 4,
  variants: {
    service: (scale) =>
      measure(scale, async () => (await startPricedService({ assets: 10, clockPeriod: '60s' })).service),
    'bare uWS': (scale) => measure(scale, () => startPeer('uws_publish')),
  },
  lines: () => [
    {
      name: 'per idle connection',
      unit: 'bytes',
      ours: { variant: 'service', figure: 'bytes per connection' },
      peers: [
        {
          name: 'bare uWS',
          source: { variant: 'bare uWS', figure: 'bytes per connection' },
          ratio: { atMost: 1.5 },
        },
      ],
    },
    {
      name: 'whole process with 10,000',
      unit: 'MiB',
      ours: { variant: 'service', figure: 'MiB' },
      peers: [{ name: 'bare uWS', source: { variant: 'bare uWS', figure: 'MiB' } }],
      shown: [
        { name: 'before', unit: 'MiB', source: { variant: 'service', figure: 'MiB before' } },
        { name: "bare uWS's before", unit: 'MiB', source: { variant: 'bare uWS', figure: 'MiB before' } },
      ],
    },
  ],
};

async function measure(scale: Scale, start: () => Promise<ServerProcess>): Promise<Measurement> {
  const server = await start();
  await pause(SETTLE_MS[scale]);
  const before = server.anonymousBytes();
  const streams = await openStreams({
    port: server.port,
    query: 'channel=real_time',
    count: CONNECTIONS[scale],
    assetsOf: () => [0],
  });
  await pause(SETTLE_MS[scale]);
  const after = server.anonymousBytes();
  if (streams.closed > 0) throw new Error(`${streams.closed} connections were closed`);
  streams.close();
  await server.stop();
  return {
    figures: {
      'bytes per connection': (after - before) / CONNECTIONS[scale],
      'MiB before': before / MIB,
      MiB: after / MIB,
    },
  };
}
