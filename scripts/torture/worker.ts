import { readMetrics } from '../load/metrics.js';
import { percentile } from '../load/statistics.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Check, exactly, type Scale } from './check.js';
import { startProbedService } from './probed_service.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { until, writeTortureConfig } from './service.js';

/** The check in which threads of the crypto pool exit while they have a batch of signatures. */
export const worker: Check = {
  name: 'worker',
  title: 'crypto threads exit under load',
  run: measure,
};

const EXITS: Readonly<Record<Scale, number>> = { full: 30, smoke: 2 };
const EXIT_INTERVAL_MS = 300;
const READERS: Readonly<Record<Scale, number>> = { full: 100, smoke: 10 };
const PUBLISHERS = 4;
/** The number of assets in a message. This number is large enough for the pool to use a thread. */
const ASSETS = 40;
const SEND_INTERVAL_MS = 100;
const TICK_MS = 20;

async function measure(scale: Scale) {
  const { file } = writeTortureConfig({ assets: ASSETS, publishers: PUBLISHERS });
  const service = await startProbedService(file);
  const { port } = service;
  const assets = Array.from({ length: ASSETS }, (_, asset) => asset);
  const updates = new Updates('evm');
  const publishers = await Promise.all(
    Array.from({ length: PUBLISHERS }, (_, publisher) =>
      AckedPublisher.open({ port, publisher, assets, ack: 'true', updates }),
    ),
  );
  const lastMs: number[] = [];
  let gapsMs: number[] = [];
  const streams = await openStreams({
    port,
    query: `channel=${TICK_MS}ms&message_type=signed_ecdsa`,
    count: READERS[scale],
    assetsOf: () => assets,
    onFrame: (_payload, connection) => {
      const nowMs = performance.now();
      gapsMs.push(nowMs - (lastMs[connection] ?? nowMs));
      lastMs[connection] = nowMs;
    },
  });
  const stop = keepSending(publishers, SEND_INTERVAL_MS);
  await pause(EXITS[scale] * EXIT_INTERVAL_MS);
  const gapBeforeMs = percentile(gapsMs, 100);
  gapsMs = [];
  for (let exit = 1; exit <= EXITS[scale]; exit++) {
    await service.probe('killThread');
    await pause(EXIT_INTERVAL_MS);
    await until('a thread has exited', async () => (await service.probe('exits')) >= exit);
  }
  stop();
  await until('all is answered', () => publishers.every(({ unanswered }) => unanswered === 0));
  const metrics = await readMetrics(service);
  const closed = streams.closed + publishers.filter(({ isClosed }) => isClosed).length;
  const sum = (of: (publisher: AckedPublisher) => number) =>
    publishers.reduce((all, one) => all + of(one), 0);
  const findings = [
    {
      figure: 'threads that exited',
      value: await service.probe('exits'),
      unit: '',
      mustBe: exactly(EXITS[scale]),
    },
    {
      figure: '  batches done again',
      value: metrics.get('tickseal_crypto_worker_failures_total')!,
      unit: '',
      mustBe: { atLeast: EXITS[scale] },
    },
    {
      figure: 'updates accepted',
      value: sum(({ updatesAccepted }) => updatesAccepted),
      unit: '',
      mustBe: { atLeast: 1 },
    },
    {
      figure: '  refused',
      value: sum(({ updatesRejected }) => updatesRejected),
      unit: '',
      mustBe: exactly(0),
    },
    { figure: 'connections closed', value: closed, unit: '', mustBe: exactly(0) },
    { figure: `longest time without a frame before, ticks of ${TICK_MS} ms`, value: gapBeforeMs, unit: 'ms' },
    {
      figure: '  while threads exit',
      value: percentile(gapsMs, 100),
      unit: 'ms',
      mustBe: { atMost: 1_000 },
      isTiming: true,
    },
  ];
  await service.stop();
  return findings;
}
