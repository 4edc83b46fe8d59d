import { TOKEN } from '../load/config.js';
import { clientFrame, openFrameSocket } from '../load/frame_socket.js';
import { readMetrics } from '../load/metrics.js';
import { type ServerProcess, startService } from '../load/server_process.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Check, count, exactly, measured, NONE, type Scale, SOME, timing } from './check.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { PROBED, until, writeTortureConfig } from './service.js';

/** The check of the memory that remains after clients connect and leave, or change their subscriptions. */
export const leaks: Check = {
  name: 'leaks',
  title: 'sockets opened and closed, sets of assets subscribed and unsubscribed',
  run: measure,
};

const TIMES: Readonly<Record<Scale, number>> = { full: 10_000, smoke: 100 };
const ASSETS = 200;
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
  const { file } = writeTortureConfig({ assets: ASSETS }, { control_messages_per_second: 1_000_000 });
  const service = await startService(file, PROBED);
  const assets = Array.from({ length: ASSETS }, (_, asset) => asset);
  const updates = new Updates('evm');
  const publisher = await AckedPublisher.open({
    port: service.port,
    publisher: 0,
    assets,
    ack: 'true',
    updates,
  });
  const stop = keepSending([publisher], 100);

  // The first turn fills permanent memory, such as compiled code, pools and the sets of topics.
  await openAndClose(service, times / 2);
  await changeSets(service, times / 2, 0);
  const before = await atRest(service, SAMPLES[scale]);
  await openAndClose(service, times);
  const between = await atRest(service, SAMPLES[scale]);
  const groupsMost = await changeSets(service, times, times / 2);
  const after = await atRest(service, SAMPLES[scale]);
  stop();
  await service.stop();
  const bytesEach = (one: State, next: State) => (next.heapBytes - one.heapBytes) / times;
  const bound = { atMost: BYTES_EACH_MAX };
  return [
    measured('heap before', before.heapBytes / 1e6, 'MB'),
    timing(`  after ${times} sockets, each`, bytesEach(before, between), 'bytes', bound),
    timing(`  after ${times} sets, each`, bytesEach(between, after), 'bytes', bound),
    measured(
      'memory of the process, for each socket and set',
      (after.anonymousBytes - before.anonymousBytes) / times / 2,
      'bytes',
    ),
    count('connections, more than before', after.connections - before.connections, NONE),
    count('groups, each with its topic, most at once', groupsMost, SOME),
    count('  at the end', after.groups, exactly(before.groups)),
  ];
}

interface State {
  readonly heapBytes: number;
  readonly anonymousBytes: number;
  readonly connections: number;
  readonly groups: number;
}

/** Measures the memory while only the publisher is connected. */
async function atRest(service: ServerProcess, samples: number): Promise<State> {
  await until(
    'the sockets are closed',
    async () => (await readMetrics(service)).get('tickseal_stream_connections') === 0,
  );
  // Promises and timers of finished work exist for a moment longer.
  await until(
    'no signature waits',
    async () => (await readMetrics(service)).get('tickseal_crypto_jobs_queued') === 0,
  );
  let heapBytes = Number.POSITIVE_INFINITY;
  for (let i = 0; i < samples; i++) {
    heapBytes = Math.min(heapBytes, (await service.ask('heap')) as number);
    await pause(SAMPLE_INTERVAL_MS);
  }
  const metrics = await readMetrics(service);
  return {
    heapBytes,
    anonymousBytes: service.anonymousBytes(),
    connections: metrics.get('tickseal_connections')!,
    groups: metrics.get('tickseal_stream_groups')!,
  };
}

async function openAndClose(service: ServerProcess, times: number): Promise<void> {
  for (let opened = 0; opened < times; opened += OPEN_AT_ONCE) {
    const streams = await openStreams({
      port: service.port,
      query:
        opened % (2 * OPEN_AT_ONCE) === 0 ? 'channel=real_time' : 'channel=100ms&message_type=signed_ecdsa',
      count: OPEN_AT_ONCE,
      assetsOf: (connection) => [connection % ASSETS],
    });
    streams.close();
  }
}

/**
 * Subscribes to one set after the other, and unsubscribes from each.
 * @returns the largest number of groups at any time
 */
async function changeSets(service: ServerProcess, times: number, firstSet: number): Promise<number> {
  let groupsMost = 0;
  await Promise.all(
    Array.from({ length: SUBSCRIBERS }, async (_, subscriber) => {
      let onAnswer = () => {};
      const socket = await openFrameSocket({
        port: service.port,
        path: '/ws?channel=100ms',
        token: TOKEN,
        onFrame: (payload) => {
          if (payload.includes('subscribe"')) onAnswer();
        },
      });
      const request = (type: string, assets: readonly number[]) =>
        new Promise<void>((resolve) => {
          onAnswer = resolve;
          socket.write(clientFrame(JSON.stringify({ type, assets, id: 1 })));
        });
      for (let i = subscriber; i < times; i += SUBSCRIBERS) {
        const set = setOf(firstSet + i);
        await request('subscribe', set);
        if (i % 1_000 === 0)
          groupsMost = Math.max(groupsMost, (await readMetrics(service)).get('tickseal_stream_groups')!);
        await request('unsubscribe', set);
      }
      socket.close();
    }),
  );
  return groupsMost;
}

/** Returns three assets. The set differs for each number below about 7,880,000. */
function setOf(number: number): number[] {
  const a = number % (ASSETS - 2);
  const rest = Math.floor(number / (ASSETS - 2));
  const b = a + 1 + (rest % (ASSETS - a - 2));
  const c = b + 1 + (Math.floor(rest / (ASSETS - a - 2)) % (ASSETS - b - 1));
  return [a, b, c];
}
