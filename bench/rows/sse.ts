import { connect, type Socket } from 'node:net';
import { symbolOf, TOKEN } from '../../scripts/load/config.js';
import type { ServerProcess } from '../../scripts/load/server_process.js';
import { openStreams } from '../../scripts/load/streams.js';
import { measureUsage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';
import { EVENTS_PATH } from '../../src/wire/paths.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPricedService } from '../workloads/priced_service.js';

/** Readers that receive the same frames. */
interface Readers {
  /** The numbers of frames and of their bytes, without the first frame of each reader. */
  readonly counts: { frames: number; bytes: number };
  readonly close: () => void;
}

type Way = 'WebSocket' | 'events';

const ASSETS = 10;
const CLIENTS: Readonly<Record<Scale, number>> = { full: 500, smoke: 5 };
const CHANNEL_MS = 10;
/** The numbers of assets in signed frames, as JSON and as bytes. */
const SIGNED_ASSETS: Readonly<Record<Scale, readonly number[]>> = {
  full: [1, 10, 100, 1_000],
  smoke: [1, 10],
};
const SIGNED_CLIENTS: Readonly<Record<Scale, number>> = { full: 100, smoke: 3 };
const ENCODINGS = ['json', 'binary'] as const;
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 20 };
const SIGNED_SETTLE_MS: Readonly<Record<Scale, number>> = { full: 2_000, smoke: 20 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 3_000, smoke: 60 };
/** The number and the length of additional waits for the first frame. A smoke run beside other rows may need these waits. */
const WAITS_MAX = 100;
const WAIT_MS = 100;
const MICROSECONDS = 1e6;
const EVENT_END = Buffer.from('\n\n');
const READ_BUFFER = Buffer.allocUnsafeSlow(256 * 1024);

export const sse: Row = {
  name: 'sse',
  title: 'Frames as server-sent events, and frames as bytes',
  method:
    'Unsigned frames of 10 assets every 10 ms to 500 readers, by `/v1/stream` and by `/ws`: the CPU time of the service by delivered frame. Then signed ' +
    'frames every 10 ms to 100 readers of one group, as JSON and with `encoding=binary`: bytes on the socket without heads, and CPU time by frame, in turns.',
  rounds: 3,
  variants: {
    events: (scale) => measureWay(scale, 'events'),
    WebSocket: (scale) => measureWay(scale, 'WebSocket'),
    signed: measureSigned,
  },
  lines: (scale) => [
    {
      name: 'a frame as an event',
      unit: 'µs of CPU time',
      ours: { variant: 'events', figure: 'µs' },
      peers: [{ name: '/ws', source: { variant: 'WebSocket', figure: 'µs' }, ratio: { atMost: 1.1 } }],
    },
    ...SIGNED_ASSETS[scale].map(
      (assets): Line => ({
        name: `a signed frame of ${assets} as bytes`,
        unit: 'bytes',
        ours: { variant: 'signed', figure: `binary ${assets}: bytes` },
        peers: [{ name: 'JSON', source: { variant: 'signed', figure: `json ${assets}: bytes` } }],
        shown: ENCODINGS.map((encoding) => ({
          name: encoding,
          unit: 'µs of CPU time',
          source: { variant: 'signed', figure: `${encoding} ${assets}: µs` },
        })),
      }),
    ),
  ],
};

async function measureWay(scale: Scale, way: Way): Promise<Measurement> {
  const { service } = await startPricedService({ assets: ASSETS, clockPeriod: '60s' });
  const open = way === 'events' ? openEventReaders : openSocketReaders;
  const readers = await open(service.port, `channel=${CHANNEL_MS}ms`, CLIENTS[scale], ASSETS);
  const { us } = await measureFrames(service, readers, SETTLE_MS[scale], scale);
  await service.stop();
  return { figures: { µs: us } };
}

async function measureSigned(scale: Scale): Promise<Measurement> {
  const figures: Record<string, number> = {};
  const { service } = await startPricedService({
    assets: SIGNED_ASSETS[scale].at(-1)!,
    clockPeriod: '60s',
  });
  for (const assets of SIGNED_ASSETS[scale])
    for (const encoding of ENCODINGS) {
      const query = `channel=${CHANNEL_MS}ms&message_type=signed_ecdsa&encoding=${encoding}`;
      const readers = await openSocketReaders(service.port, query, SIGNED_CLIENTS[scale], assets);
      const { us, bytes } = await measureFrames(service, readers, SIGNED_SETTLE_MS[scale], scale);
      figures[`${encoding} ${assets}: bytes`] = bytes;
      figures[`${encoding} ${assets}: µs`] = us;
    }
  await service.stop();
  return { figures };
}

async function measureFrames(
  service: ServerProcess,
  { counts, close }: Readers,
  settleMs: number,
  scale: Scale,
) {
  await pause(settleMs);
  const before = { ...counts };
  const end = measureUsage(service);
  await pause(MEASURE_MS[scale]);
  for (let waits = 0; waits < WAITS_MAX && counts.frames === before.frames; waits++) await pause(WAIT_MS);
  const { serverCpuSeconds } = end();
  const frames = counts.frames - before.frames;
  if (frames === 0) throw new Error('no frame arrived');
  close();
  return { us: (serverCpuSeconds * MICROSECONDS) / frames, bytes: (counts.bytes - before.bytes) / frames };
}

async function openSocketReaders(
  port: number,
  query: string,
  count: number,
  assets: number,
): Promise<Readers> {
  const counts = { frames: 0, bytes: 0 };
  const ids = Array.from({ length: assets }, (_, asset) => asset);
  const { close } = await openStreams({
    port,
    query,
    count,
    assetsOf: () => ids,
    onFrame: ({ length }) => {
      counts.frames++;
      counts.bytes += length;
    },
  });
  return { counts, close };
}

/** Opens readers of `/v1/stream` that only count the ends of events, because the row measures the service. */
async function openEventReaders(
  port: number,
  query: string,
  count: number,
  assets: number,
): Promise<Readers> {
  const counts = { frames: 0, bytes: 0 };
  const symbols = Array.from({ length: assets }, (_, asset) => symbolOf(asset)).join();
  const path = `${EVENTS_PATH}?${query}&assets=${symbols}`;
  const sockets = await Promise.all(Array.from({ length: count }, () => openEvents(port, path, counts)));
  return {
    counts,
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function openEvents(port: number, path: string, counts: Readers['counts']): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const read = (part: Buffer): boolean => {
      if (!isOpen && !part.toString('latin1', 0, 12).startsWith('HTTP/1.1 200'))
        reject(new Error(part.toString('latin1', 0, 100)));
      isOpen = true;
      resolve(socket);
      counts.bytes += part.length;
      for (let at = part.indexOf(EVENT_END); at >= 0; at = part.indexOf(EVENT_END, at + 2)) counts.frames++;
      return true;
    };
    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      // All sockets share this buffer, because the bytes are only counted.
      onread: { buffer: READ_BUFFER, callback: (length) => read(READ_BUFFER.subarray(0, length)) },
    });
    socket.once('error', reject);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic ${TOKEN}\r\nAccept: text/event-stream\r\n\r\n`,
    );
  });
}
