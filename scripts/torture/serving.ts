import { readMetrics } from '../load/metrics.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Check, exactly, type Scale } from './check.js';
import { startProbedService } from './probed_service.js';
import { AckedPublisher } from './publisher.js';
import { changeConfig, readiness, until, writeTortureConfig } from './service.js';

/** The check in which serving threads enter an endless loop, one after the other. */
export const serving: Check = {
  name: 'serving',
  title: 'serving threads hang',
  run: measure,
};

const HANGS: Readonly<Record<Scale, number>> = { full: 5, smoke: 1 };
const THREADS: Readonly<Record<Scale, number>> = { full: 3, smoke: 2 };
const READERS: Readonly<Record<Scale, number>> = { full: 90, smoke: 20 };
const ASSETS = 10;
const TICK_MS = 20;
const BEFORE_MS = 1_000;
/**
 * The time without a frame after which a reader belongs to the hung thread. Other readers always receive a frame within this
 * time.
 */
const SILENCE_MS = 1_000;

interface Reader {
  lastMs: number;
  gapMsMax: number;
  isClosed: boolean;
}

async function measure(scale: Scale) {
  const { file } = writeTortureConfig({ assets: ASSETS });
  changeConfig(file, ({ listen }) => {
    listen['threads'] = THREADS[scale];
  });
  const service = await startProbedService(file);
  const { port } = service;
  const assets = Array.from({ length: ASSETS }, (_, asset) => asset);
  const publisher = await AckedPublisher.open({
    port,
    publisher: 0,
    assets,
    ack: 'true',
    updates: new Updates('evm'),
  });
  // A single message is enough, because a fixed channel repeats the latest prices.
  publisher.send();
  await until('the prices are accepted', () => publisher.unanswered === 0);

  let readers: Reader[] = [];
  let closed = 0;
  let closedWhileServed = 0;
  const open = async (count: number) => {
    const opened = new Map<number, Reader>();
    await openStreams({
      port,
      query: `channel=${TICK_MS}ms&message_type=signed_ecdsa`,
      count,
      assetsOf: () => assets,
      onFrame: (_payload, connection) => {
        const nowMs = performance.now();
        const reader = opened.get(connection) ?? { lastMs: nowMs, gapMsMax: 0, isClosed: false };
        opened.set(connection, reader);
        reader.gapMsMax = Math.max(reader.gapMsMax, nowMs - reader.lastMs);
        reader.lastMs = nowMs;
      },
      onClose: (_code, connection) => {
        const reader = opened.get(connection)!;
        reader.isClosed = true;
        closed++;
        if (performance.now() - reader.lastMs < SILENCE_MS) closedWhileServed++;
      },
    });
    await until('each has a frame', () => opened.size === count);
    readers = [...readers.filter(({ isClosed }) => !isClosed), ...opened.values()];
  };
  const gapMsMax = () => Math.max(...readers.map(({ isClosed, gapMsMax: gap }) => (isClosed ? 0 : gap)));
  const forgetGaps = () => {
    for (const reader of readers) reader.gapMsMax = 0;
  };

  await open(READERS[scale]);
  forgetGaps();
  await pause(BEFORE_MS);
  const gapBeforeMs = gapMsMax();
  let gapMs = 0;
  let awayMs = 0;
  let notReady = 0;
  for (let hang = 1; hang <= HANGS[scale]; hang++) {
    forgetGaps();
    const startMs = performance.now();
    await service.probe('hangServer');
    let isSeen = false;
    await until('another one serves in its place', async () => {
      isSeen ||= (await readiness(service)).status === 503;
      const metrics = await readMetrics(service);
      return metrics.get(FAILURES) === hang && metrics.get('tickseal_listen_threads') === THREADS[scale];
    });
    if (isSeen) notReady++;
    awayMs = Math.max(awayMs, performance.now() - startMs);
    gapMs = Math.max(gapMs, gapMsMax());
    await open(READERS[scale] - readers.filter(({ isClosed }) => !isClosed).length);
  }
  const metrics = await readMetrics(service);
  const findings = [
    { figure: 'threads that hung', value: metrics.get(FAILURES)!, unit: '', mustBe: exactly(HANGS[scale]) },
    {
      figure: '  serving threads afterwards',
      value: metrics.get('tickseal_listen_threads')!,
      unit: '',
      mustBe: exactly(THREADS[scale]),
    },
    { figure: '  /readyz said so', value: notReady, unit: '', mustBe: { atLeast: 1 }, isTiming: true },
    {
      figure: '  longest until another serves',
      value: awayMs,
      unit: 'ms',
      mustBe: { atMost: 8_000 },
      isTiming: true,
    },
    { figure: 'their readers, closed', value: closed, unit: '', mustBe: { atLeast: 1 } },
    { figure: 'readers of other threads, closed', value: closedWhileServed, unit: '', mustBe: exactly(0) },
    {
      figure: `  longest time without a frame before, ticks of ${TICK_MS} ms`,
      value: gapBeforeMs,
      unit: 'ms',
    },
    {
      figure: '  while a thread hangs',
      value: gapMs,
      unit: 'ms',
      mustBe: { atMost: 1_000 },
      isTiming: true,
    },
  ];
  await service.stop();
  return findings;
}

const FAILURES = 'tickseal_listen_thread_failures_total';
