import { TOKEN } from '../load/config.js';
import { clientFrame, openFrameSocket } from '../load/frame_socket.js';
import { readMetrics } from '../load/metrics.js';
import { type ServerProcess, startService } from '../load/server_process.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Check, count, exactly, measured, NONE, type Scale, timing } from './check.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { until, writeTortureConfig } from './service.js';

/** The check of the memory that remains after clients connect and leave, or change their subscriptions. */
export const leaks: Check = {
  name: 'leaks',
  title: 'sockets opened and closed, sets of assets subscribed and unsubscribed',
  run: measure,
};

const TIMES: Readonly<Record<Scale, number>> = { full: 10_000, smoke: 100 };
const ASSETS = Array.from({ length: 200 }, (_, asset) => asset);
const OPEN_AT_ONCE = 100;
const SUBSCRIBERS = 10;
/**
 * The limit of bytes for each client. A session with its socket takes more than 500 bytes. The code that V8 compiles during the check
 * takes a few hundred KB in total.
 */
const BYTES_EACH_MAX = 200;
/** The number of samples of the heap. The smallest counts, because the work of the publisher takes megabytes for a moment. */
const SAMPLES: Readonly<Record<Scale, number>> = { full: 20, smoke: 1 };
const SAMPLE_INTERVAL_MS = 300;

async function measure(scale: Scale) {
  const times = TIMES[scale];
  const { file } = writeTortureConfig({ assets: ASSETS.length }, { control_messages_per_second: 1_000_000 });
  const probe = new URL('../load/memory_probe.js', import.meta.url).href;
  const service = await startService(file, { nodeOptions: `--import ${probe}`, probed: true });
  const { port } = service;
  const updates = new Updates('evm');
  const publisher = await AckedPublisher.open({ port, publisher: 0, assets: ASSETS, ack: 'true', updates });
  const stop = keepSending([publisher], 100);
  // The first turn fills permanent memory, such as compiled code, pools and the sets of topics.
  await openAndClose(port, times / 2);
  await changeSets(port, 0, times / 2);
  const before = await atRest(service, SAMPLES[scale]);
  await openAndClose(port, times);
  const between = await atRest(service, SAMPLES[scale]);
  await changeSets(port, times / 2, times);
  const after = await atRest(service, SAMPLES[scale]);
  stop();
  await service.stop();
  const bound = { atMost: BYTES_EACH_MAX };
  return [
    measured('heap before', before.heapBytes / 1e6, 'MB'),
    timing(`  after ${times} sockets, each`, (between.heapBytes - before.heapBytes) / times, 'bytes', bound),
    timing(`  after ${times} sets, each`, (after.heapBytes - between.heapBytes) / times, 'bytes', bound),
    count('connections, more than before', after.connections - before.connections, NONE),
    count('groups of readers, each with its topic', after.groups, exactly(before.groups)),
  ];
}

/** Measures the memory while only the publisher is connected. */
async function atRest(service: ServerProcess, samples: number) {
  await until('no reader is connected, and no signature waits', async () => {
    const metrics = await readMetrics(service);
    return (
      metrics.get('tickseal_stream_connections') === 0 && metrics.get('tickseal_crypto_jobs_queued') === 0
    );
  });
  let heapBytes = Number.POSITIVE_INFINITY;
  for (let i = 0; i < samples; i++) {
    heapBytes = Math.min(heapBytes, (await service.ask('heap')) as number);
    await pause(SAMPLE_INTERVAL_MS);
  }
  const metrics = await readMetrics(service);
  return {
    heapBytes,
    connections: metrics.get('tickseal_connections')!,
    groups: metrics.get('tickseal_stream_groups')!,
  };
}

async function openAndClose(port: number, times: number): Promise<void> {
  const queries = ['channel=real_time', 'channel=100ms&message_type=signed_ecdsa'];
  for (let opened = 0; opened < times; opened += OPEN_AT_ONCE) {
    const query = queries[(opened / OPEN_AT_ONCE) % 2]!;
    const assetsOf = (connection: number) => [connection % ASSETS.length];
    (await openStreams({ port, query, count: OPEN_AT_ONCE, assetsOf })).close();
  }
}

/** Subscribes to one set of assets after the other, and unsubscribes from each. */
async function changeSets(port: number, first: number, times: number): Promise<void> {
  await Promise.all(
    Array.from({ length: SUBSCRIBERS }, async (_, subscriber) => {
      let onAnswer = () => {};
      const socket = await openFrameSocket({
        port,
        path: '/ws?channel=100ms',
        token: TOKEN,
        onFrame: (payload) => payload.includes('subscribe"') && onAnswer(),
      });
      const request = (type: string, assets: readonly number[]) =>
        new Promise<void>((resolve) => {
          onAnswer = resolve;
          socket.write(clientFrame(JSON.stringify({ type, assets, id: 1 })));
        });
      for (let i = subscriber; i < times; i += SUBSCRIBERS) {
        // No other number gives these two neighbours and this third asset.
        const at = first + i;
        const assets = [0, 1, 2 + Math.floor(at / ASSETS.length)].map((step) => (at + step) % ASSETS.length);
        await request('subscribe', assets);
        await request('unsubscribe', assets);
      }
      socket.close();
    }),
  );
}
