import { symbolOf } from '../load/config.js';
import { type ServerProcess, startService } from '../load/server_process.js';
import { median } from '../load/statistics.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Account, enter, missing, servedAccount, storedAccount } from './account.js';
import { type Check, count, measured, NONE, type Scale, SOME, timing } from './check.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { readiness, until, writeTortureConfig } from './service.js';

/** The check with `kill -9` of the whole service at random moments, repeated on one data folder. */
export const kill: Check = {
  name: 'kill',
  title: 'kill -9 under load, with durable acknowledgements',
  run: measure,
};

const ROUNDS: Readonly<Record<Scale, number>> = { full: 100, smoke: 2 };
const ASSETS = 20;
const PUBLISHERS = 4;
const ASSETS_PER_PUBLISHER = 10;
const SUBSCRIBERS = 20;
const SEND_INTERVAL_MS = 10;
const LOAD_MS_MAX = 400;

async function measure(scale: Scale) {
  const rounds = ROUNDS[scale];
  const { file } = writeTortureConfig({ assets: ASSETS, publishers: PUBLISHERS, clockPeriod: '100ms' });
  const symbols = Array.from({ length: ASSETS }, (_, asset) => symbolOf(asset));
  const updates = new Updates('evm');
  const acknowledged: Account = new Map();
  const recoveryMs: number[] = [];
  let answers = 0;
  let lostServed = 0;
  let lostStored = 0;
  let endedOtherwise = 0;
  for (let round = 0; round < rounds; round++) {
    const startMs = performance.now();
    const service = await startService(file);
    await until('it is ready', async () => (await readiness(service)).status === 200);
    recoveryMs.push(performance.now() - startMs);
    lostServed += missing(acknowledged, await servedAccount(service, symbols, acknowledged));
    const publishers = await killUnderLoad(service, updates);
    for (const publisher of publishers) {
      enter(acknowledged, publisher);
      answers += publisher.delaysMs.length;
    }
    if ((await service.ended).signal !== 'SIGKILL') endedOtherwise++;
    // The check reads the folder in every second round. In the other rounds, the service itself is the first to open the folder after the
    // kill.
    if (round % 2 === 0) lostStored += missing(acknowledged, await storedAccount(file));
  }
  return [
    count('kills', rounds),
    count('durable acknowledgements', answers, SOME),
    count('acknowledged and not served after the restart', lostServed, NONE),
    count('acknowledged and not in the store', lostStored, NONE),
    count('ended otherwise than by the signal', endedOtherwise, NONE),
    measured('start of the process to ready, median', median(recoveryMs), 'ms'),
    timing('  longest', Math.max(...recoveryMs), 'ms', { atMost: 10_000 }),
  ];
}

async function killUnderLoad(service: ServerProcess, updates: Updates): Promise<readonly AckedPublisher[]> {
  const { port } = service;
  const publishers = await Promise.all(
    Array.from({ length: PUBLISHERS }, (_, publisher) => {
      const first = (publisher * ASSETS_PER_PUBLISHER) / 2;
      const assets = Array.from({ length: ASSETS_PER_PUBLISHER }, (__, i) => (first + i) % ASSETS);
      return AckedPublisher.open({ port, publisher, assets, ack: 'durable', updates });
    }),
  );
  await openStreams({
    port,
    query: 'message_type=signed_ecdsa',
    count: SUBSCRIBERS,
    assetsOf: (connection) => [connection % ASSETS, ASSETS - 1],
  });
  const stop = keepSending(publishers, SEND_INTERVAL_MS);
  await until('an acknowledgement', () => publishers.some(({ acknowledged }) => acknowledged.size > 0));
  await pause(Math.random() * LOAD_MS_MAX);
  service.signal('SIGKILL');
  stop();
  // The kernel's buffers may still contain answers that the service sent before its end.
  await until('every connection has ended', () => publishers.every(({ isClosed }) => isClosed));
  return publishers;
}
