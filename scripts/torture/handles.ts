import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type ServerProcess, startService } from '../load/server_process.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { measureUsage } from '../load/usage.js';
import { HANG_MS, pause } from '../load/wait.js';
import { type Check, count, exactly, measured, NONE, type Scale, SOME, timing } from './check.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { until, writeTortureConfig } from './service.js';

/** The check with more connections than the process has file handles. */
export const handles: Check = {
  name: 'handles',
  title: 'file handles exhausted',
  run: measure,
};

const WATCH_MS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 500 };
const HANDLES = 200;
const CONNECTIONS = 300;
const READERS = 10;
/** The number of clients at other addresses beside a client that opens too many connections. */
const OTHERS = 8;
const TICK_MS = 100;

async function measure(scale: Scale) {
  const { file } = writeTortureConfig({ assets: 1 });
  const wrapper = ['sh', '-c', `ulimit -n ${HANDLES} && exec "$0" "$@"`];
  const service = await startService(file, { wrapper });
  const updates = new Updates('evm');
  const publisher = await AckedPublisher.open({
    port: service.port,
    publisher: 0,
    assets: [0],
    ack: 'durable',
    updates,
  });
  const stop = keepSending([publisher], TICK_MS);
  const streams = await openStreams({
    port: service.port,
    query: `channel=${TICK_MS}ms`,
    count: READERS,
    assetsOf: () => [0],
  });
  const admin = new AdminConnection(service);
  await admin.ask('/livez');
  const idle = await cpuPercent(service, WATCH_MS[scale]);

  const flood = Array.from({ length: CONNECTIONS }, () => connect(service.port, '127.0.0.1'));
  for (const socket of flood) socket.on('error', () => {});
  await pause(1_000);
  let beside = 0;
  for (let i = 0; i < OTHERS; i++) if (await isServed(service.port, `127.0.2.${i + 1}`)) beside++;
  for (const socket of flood) socket.destroy();

  // Each client has its own address, because an address may use only half of the free handles.
  const crowd = Array.from({ length: CONNECTIONS }, (_, i) => {
    return new Visitor(service.port, `127.0.${3 + (i >> 7)}.${1 + (i & 127)}`);
  });
  await pause(1_000);
  const framesBefore = streams.frames;
  const answersBefore = publisher.delaysMs.length;
  const busy = await cpuPercent(service, WATCH_MS[scale]);
  // The check waits for events, because on a busy machine a smoke run may be too short for any event.
  await until('a frame comes', () => streams.frames > framesBefore);
  await until('an update is answered', () => publisher.delaysMs.length > answersBefore);
  const livezStatus = await admin.ask('/livez');
  const served = crowd.filter(({ isAnswered }) => isAnswered).length;
  const frames = streams.frames - framesBefore;
  const answers = publisher.delaysMs.length - answersBefore;

  for (const visitor of crowd) visitor.leave();
  const startMs = performance.now();
  await until('a new connection is served', () => isServed(service.port));
  const recoveryMs = performance.now() - startMs;
  await until('it is ready again', async () => (await admin.ask('/readyz')) === 200);

  const adminPort = service.adminPort!;
  const scrapers = Array.from({ length: CONNECTIONS }, () => new Visitor(adminPort));
  await pause(1_000);
  const framesBeforeScrape = streams.frames;
  const scraped = await cpuPercent(service, WATCH_MS[scale]);
  const readyzStatus = await admin.ask('/readyz');
  await until('a frame comes', () => streams.frames > framesBeforeScrape);
  const framesOfScrape = streams.frames - framesBeforeScrape;
  for (const scraper of scrapers) scraper.leave();
  await until('the admin listener serves again', () => isServed(adminPort));
  stop();
  const closed = streams.closed + Number(publisher.isClosed);
  await service.stop();
  const busyMax = { atMost: idle + 20 };
  return [
    count(
      `of ${OTHERS} clients beside ${CONNECTIONS} silent connections of another address, served`,
      beside,
      exactly(OTHERS),
    ),
    count(`of ${CONNECTIONS} more connections, ${HANDLES} handles, served`, served, { atLeast: HANDLES }),
    measured('CPU of the service before', idle, '% of a core'),
    timing('  without free handles', busy, '% of a core', busyMax),
    timing('  with the connections on the admin listener', scraped, '% of a core', busyMax),
    count('    frames meanwhile', framesOfScrape, SOME),
    count('/livez on a connection from before', livezStatus, exactly(200)),
    count('/readyz on it, with those on the admin listener', readyzStatus, exactly(503)),
    count('frames to those connected meanwhile', frames, SOME),
    count('durable answers meanwhile', answers, SOME),
    count('connections from before closed', closed, NONE),
    timing('serves again after they have left', recoveryMs, 'ms', { atMost: 2_000 }),
  ];
}

/** Returns the CPU time of the service for a time, in percent of a core. */
async function cpuPercent(service: ServerProcess, watchMs: number): Promise<number> {
  const end = measureUsage(service);
  await pause(watchMs);
  return end().serverShare * 100;
}

/** Sends requests to the admin listener on one connection that stays open. */
class AdminConnection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;

  constructor(service: ServerProcess) {
    this.#port = service.adminPort!;
  }

  /** @returns the HTTP status; 0 without an answer */
  ask(path: string): Promise<number> {
    return new Promise((resolve) => {
      get({ port: this.#port, path, agent: this.#agent, timeout: HANG_MS }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode!));
      })
        .on('timeout', () => resolve(0))
        .on('error', () => resolve(0));
    });
  }
}

/** Opens a connection that sends one request and stays open. */
class Visitor {
  readonly #socket: Socket;
  isAnswered = false;

  /** @param localAddress the address of the client */
  constructor(port: number, localAddress = '127.0.0.1') {
    this.#socket = connect({ port, host: '127.0.0.1', localAddress });
    this.#socket.on('error', () => {});
    this.#socket.on('data', () => {
      this.isAnswered = true;
    });
    this.#socket.write('GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  }

  leave(): void {
    this.#socket.destroy();
  }
}

/** Returns whether a new connection gets an answer within half a second. */
async function isServed(port: number, localAddress?: string): Promise<boolean> {
  const visitor = new Visitor(port, localAddress);
  const endMs = performance.now() + 500;
  while (!visitor.isAnswered && performance.now() < endMs) await pause(10);
  visitor.leave();
  return visitor.isAnswered;
}
