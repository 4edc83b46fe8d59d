import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../test/certificate.js';
import { readMetrics } from '../load/metrics.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import {
  type Check,
  count,
  exactly,
  type Finding,
  measured,
  NONE,
  type Scale,
  SOME,
  timing,
} from './check.js';
import { FrameGaps } from './frame_gaps.js';
import { type ProbedService, startProbedService } from './probed_service.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { changeConfig, readiness, until, writeTortureConfig } from './service.js';
import { startStorm } from './storm.js';

/**
 * The check in which threads fail under load: those of the crypto pool exit while they have a batch of signatures, serving threads enter
 * an endless loop, and serving threads crash during all kinds of client activity.
 */
export const threads: Check = {
  name: 'threads',
  title: 'crypto threads exit, and serving threads hang and crash, under load',
  async run(scale) {
    return [...(await measureFailures(scale)), ...(await measureCrashes(scale))];
  },
};

const EXITS: Readonly<Record<Scale, number>> = { full: 30, smoke: 2 };
const EXIT_INTERVAL_MS = 300;
const HANGS: Readonly<Record<Scale, number>> = { full: 5, smoke: 1 };
const THREADS: Readonly<Record<Scale, number>> = { full: 3, smoke: 2 };
const READERS: Readonly<Record<Scale, number>> = { full: 90, smoke: 20 };
const PUBLISHERS = 4;
/** The number of assets in a message. This number is large enough for the pool to use a thread. */
const ASSETS = 40;
const ALL = Array.from({ length: ASSETS }, (_, asset) => asset);
const SEND_INTERVAL_MS = 100;
const TICK_MS = 20;
const BEFORE_MS = 1_000;
const GAP_MS_MAX = 1_000;
/**
 * The time without a frame after which a reader belongs to the hung thread. Other readers always receive a frame within this
 * time.
 */
const SILENCE_MS = 1_000;
const FAILURES = 'tickseal_listen_thread_failures_total';
const SERVING = 'tickseal_listen_threads';

/** Readers of signed frames. Those of a thread that fails are opened again. */
class Readers {
  readonly gaps = new FrameGaps();
  closed = 0;
  /** The number of closed readers that were still receiving frames. */
  closedWhileServed = 0;
  #opened = 0;

  constructor(readonly service: ProbedService) {}

  /** Opens readers until there are so many, and waits until each has a frame. */
  async open(total: number): Promise<void> {
    const first = this.#opened;
    const count = total - this.gaps.connections;
    this.#opened += count;
    await openStreams({
      port: this.service.port,
      query: `channel=${TICK_MS}ms&message_type=signed_ecdsa`,
      count,
      assetsOf: () => ALL,
      onFrame: (_payload, connection) => this.gaps.note(first + connection),
      onClose: (_code, connection) => {
        this.closed++;
        if (this.gaps.end(first + connection) < SILENCE_MS) this.closedWhileServed++;
      },
    });
    await until('each reader has a frame', () => this.gaps.connections === total);
  }
}

async function measureFailures(scale: Scale): Promise<Finding[]> {
  const { file } = writeTortureConfig({ assets: ASSETS, publishers: PUBLISHERS });
  changeConfig(file, ({ listen }) => {
    listen['threads'] = THREADS[scale];
  });
  const service = await startProbedService(file);
  const updates = new Updates('evm');
  const publishers = await Promise.all(
    Array.from({ length: PUBLISHERS }, (_, publisher) =>
      AckedPublisher.open({ port: service.port, publisher, assets: ALL, ack: 'true', updates }),
    ),
  );
  const stop = keepSending(publishers, SEND_INTERVAL_MS);
  const readers = new Readers(service);
  await readers.open(READERS[scale]);
  readers.gaps.take();
  await pause(BEFORE_MS);
  const gapBeforeMs = readers.gaps.take();

  for (let exit = 1; exit <= EXITS[scale]; exit++) {
    await service.probe('killThread');
    await pause(EXIT_INTERVAL_MS);
    await until('a thread has exited', async () => (await service.probe('exits')) >= exit);
  }
  stop();
  await until('all is answered', () => publishers.every(({ unanswered }) => unanswered === 0));
  const exitGapMs = readers.gaps.take();
  const closedByExits = readers.closed + publishers.filter(({ isClosed }) => isClosed).length;
  const accepted = publishers.reduce((sum, { updatesAccepted }) => sum + updatesAccepted, 0);
  const refused = publishers.reduce((sum, { updatesRejected }) => sum + updatesRejected, 0);
  const exits = await service.probe('exits');
  for (const publisher of publishers) publisher.close();

  let hangGapMs = 0;
  let awayMs = 0;
  let notReady = 0;
  for (let hang = 1; hang <= HANGS[scale]; hang++) {
    readers.gaps.take();
    const startMs = performance.now();
    await service.probe('hangServer');
    let isSeen = false;
    await until('another one serves in its place', async () => {
      isSeen ||= (await readiness(service)).status === 503;
      const metrics = await readMetrics(service);
      return metrics.get(FAILURES) === hang && metrics.get(SERVING) === THREADS[scale];
    });
    if (isSeen) notReady++;
    awayMs = Math.max(awayMs, performance.now() - startMs);
    hangGapMs = Math.max(hangGapMs, readers.gaps.take());
    await readers.open(READERS[scale]);
  }
  const metrics = await readMetrics(service);
  const findings = [
    count('crypto threads that exited', exits, exactly(EXITS[scale])),
    count('  batches done again', metrics.get('tickseal_crypto_worker_failures_total')!, {
      atLeast: EXITS[scale],
    }),
    count('  updates accepted', accepted, SOME),
    count('  updates refused', refused, NONE),
    count('  connections closed', closedByExits, NONE),
    measured(`longest time without a frame before, ticks of ${TICK_MS} ms`, gapBeforeMs, 'ms'),
    timing('  while crypto threads exit', exitGapMs, 'ms', { atMost: GAP_MS_MAX }),
    timing('  of other readers, while a serving thread hangs', hangGapMs, 'ms', { atMost: GAP_MS_MAX }),
    count('serving threads that hung', metrics.get(FAILURES)!, exactly(HANGS[scale])),
    count('  serving threads afterwards', metrics.get(SERVING)!, exactly(THREADS[scale])),
    timing('  /readyz said so', notReady, '', SOME),
    timing('  longest until another serves', awayMs, 'ms', { atMost: 8_000 }),
    count('  their readers, closed', readers.closed, SOME),
    count('  readers of other threads, closed', readers.closedWhileServed, NONE),
  ];
  await service.stop();
  return findings;
}

/** The number of crashes, for each kind of port. */
const CRASHES: Readonly<Record<Scale, number>> = { full: 60, smoke: 1 };
const CLIENTS: Readonly<Record<Scale, number>> = { full: 60, smoke: 18 };
const CRASHING_THREADS = 2;
/** The time after which the check repeats a fault that no thread has taken. */
const LOST_MS = 5_000;

/** Measures a port without TLS and one with TLS, if this machine can make a certificate. */
async function measureCrashes(scale: Scale): Promise<Finding[]> {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-torture-'));
  try {
    const missing = makeCertificate(dir, 'one');
    const tls = { cert_file: join(dir, 'one.pem'), key_file: join(dir, 'one.key') };
    const plain = await crash(scale, undefined);
    return missing === undefined ? [...plain, ...(await crash(scale, tls))] : plain;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function crash(scale: Scale, tls: object | undefined): Promise<Finding[]> {
  const { file } = writeTortureConfig({ assets: ASSETS });
  changeConfig(file, ({ listen, limits }) => {
    listen['threads'] = CRASHING_THREADS;
    if (tls !== undefined) listen['tls'] = tls;
    limits['drain'] = '100ms';
  });
  const service = await startProbedService(file);
  let isOver = false;
  void service.ended.then(() => {
    isOver = true;
  });
  const storm = startStorm(service.port, CLIENTS[scale], tls !== undefined);
  let crashed = 0;
  let serving = 0;
  const look = async () => {
    const metrics = await readMetrics(service).catch(() => undefined);
    crashed = metrics?.get(FAILURES) ?? crashed;
    serving = metrics?.get(SERVING) ?? 0;
  };
  while (crashed < CRASHES[scale] && !isOver) {
    const before = crashed;
    await service.probe('crashServer');
    const againMs = performance.now() + LOST_MS;
    // The loop waits for a thread that can take the next fault. A fault is lost while all threads are starting.
    await until('a thread has crashed, and another one serves', async () => {
      await look();
      return isOver || (serving > 0 && (crashed > before || performance.now() > againMs));
    });
  }
  await until('all threads serve', async () => {
    await look();
    return isOver || serving === CRASHING_THREADS;
  });
  if (!isOver) await service.stop();
  storm.stop();
  const { code } = await service.ended;
  const port = tls === undefined ? 'plain' : 'TLS';
  return [
    count(`serving threads that crashed, ${port}`, crashed, { atLeast: CRASHES[scale] }),
    count('  connections meanwhile', storm.connections, { atLeast: CLIENTS[scale] }),
    count('  exit status of the process', code ?? Number.NaN, NONE),
  ];
}
