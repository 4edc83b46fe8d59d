import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../test/certificate.js';
import { readMetrics } from '../load/metrics.js';
import type { ProcessEnd } from '../load/server_process.js';
import { type Check, exactly, type Scale } from './check.js';
import { startProbedService } from './probed_service.js';
import { changeConfig, until, writeTortureConfig } from './service.js';
import { startStorm } from './storm.js';

/** The check in which serving threads crash and start repeatedly, during all kinds of client activity. */
export const crashes: Check = {
  name: 'crashes',
  title: 'serving threads crash amid half-read requests and TLS handshakes',
  run: async (scale, { threads, count }) => {
    const dir = mkdtempSync(join(tmpdir(), 'tickseal-torture-'));
    try {
      const missing = makeCertificate(dir, 'one');
      const tls = { cert_file: join(dir, 'one.pem'), key_file: join(dir, 'one.key') };
      const times = scale === 'smoke' ? CRASHES.smoke : (count ?? CRASHES.full);
      const clients = CLIENTS[scale];
      const plain = await measure({ count: times, threads, clients });
      return missing === undefined
        ? [...plain, ...(await measure({ count: times, threads, clients, tls }))]
        : plain;
    } finally {
      rmSync(dir, { recursive: true });
    }
  },
};

/** The number of crashes, for each kind of port. */
const CRASHES: Readonly<Record<Scale, number>> = { full: 60, smoke: 1 };
const CLIENTS: Readonly<Record<Scale, number>> = { full: 60, smoke: 18 };
const ASSETS = 4;
/** The time after which the check repeats a fault that no thread has taken. */
const LOST_MS = 5_000;

interface Run {
  /** The number of threads that crash. */
  readonly count: number;
  readonly threads: number;
  readonly clients: number;
  /** The certificate and the key of a port with TLS. */
  readonly tls?: object;
}

async function measure({ count, threads, clients, tls }: Run) {
  const { file } = writeTortureConfig({ assets: ASSETS });
  const served = Math.max(2, threads);
  changeConfig(file, ({ listen, limits }) => {
    listen['threads'] = served;
    if (tls !== undefined) listen['tls'] = tls;
    limits['drain'] = '100ms';
  });
  const service = await startProbedService(file);
  let end: ProcessEnd | undefined;
  void service.ended.then((known) => {
    end = known;
  });
  const storm = startStorm(service.port, clients, tls !== undefined);
  let crashed = 0;
  let serving = 0;
  const look = async () => {
    const metrics = await readMetrics(service).catch(() => undefined);
    crashed = metrics?.get('tickseal_listen_thread_failures_total') ?? crashed;
    serving = metrics?.get('tickseal_listen_threads') ?? 0;
  };
  while (crashed < count && end === undefined) {
    const before = crashed;
    await service.probe('crashServer');
    const againMs = performance.now() + LOST_MS;
    // The loop waits for a thread that can take the next fault. A fault is lost while all threads are starting.
    await until('a thread has crashed, and another one serves', async () => {
      await look();
      return end !== undefined || (serving > 0 && (crashed > before || performance.now() > againMs));
    });
  }
  if (end === undefined) {
    await until('all threads serve', async () => {
      await look();
      return serving === served || end !== undefined;
    });
    await service.stop();
  }
  storm.stop();
  const { code, signal } = end ?? (await service.ended);
  if (signal !== null)
    process.stderr.write(`the process ended with ${signal} after ${crashed} crashes of threads\n`);
  return [
    {
      figure: `threads that crashed, ${tls === undefined ? 'plain' : 'TLS'}`,
      value: crashed,
      unit: '',
      mustBe: { atLeast: count },
    },
    { figure: '  connections meanwhile', value: storm.connections, unit: '', mustBe: { atLeast: clients } },
    { figure: '  exit status of the process', value: code ?? Number.NaN, unit: '', mustBe: exactly(0) },
  ];
}
