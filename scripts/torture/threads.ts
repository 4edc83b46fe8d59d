import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../test/certificate.js';
import { readMetrics } from '../load/metrics.js';
import { startService } from '../load/server_process.js';
import { type Check, count, type Finding, NONE, type Scale } from './check.js';
import { changeConfig, PROBED, until, writeTortureConfig } from './service.js';
import { startStorm } from './storm.js';

/** The check in which serving threads crash during all kinds of client activity, on a port without TLS and on one with TLS. */
export const threads: Check = {
  name: 'threads',
  title: 'serving threads crash under load',
  run: measure,
};

/** The number of crashes, for each kind of port. */
const CRASHES: Readonly<Record<Scale, number>> = { full: 60, smoke: 1 };
const CLIENTS: Readonly<Record<Scale, number>> = { full: 60, smoke: 18 };
const CRASHING_THREADS = 2;
/** The assets of the clients' streams. */
const ASSETS = 2;
/** The time after which the check repeats a fault that no thread has taken. */
const LOST_MS = 5_000;
const FAILURES = 'tickseal_listen_thread_failures_total';
const SERVING = 'tickseal_listen_threads';

/** Measures a port without TLS and one with TLS, if this machine can make a certificate. */
async function measure(scale: Scale): Promise<Finding[]> {
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
  const service = await startService(file, PROBED);
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
    await service.ask('crashServer');
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
