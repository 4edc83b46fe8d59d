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

/** The check with more connections than the process has file handles, to the service and then to its admin listener. */
export const handles: Check = {
  name: 'handles',
  title: 'file handles exhausted',
  run: measure,
};

const WATCH_MS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 500 };
const HANDLES = 200;
const CONNECTIONS = 300;
const READERS = 10;
const TICK_MS = 100;

async function measure(scale: Scale) {
  const { file } = writeTortureConfig({ assets: 1 });
  const wrapper = ['sh', '-c', `ulimit -n ${HANDLES} && exec "$0" "$@"`];
  const service = await startService(file, { wrapper });
  const { port } = service;
  const adminPort = service.adminPort!;
  const updates = new Updates('evm');
  const publisher = await AckedPublisher.open({ port, publisher: 0, assets: [0], ack: 'durable', updates });
  const stop = keepSending([publisher], TICK_MS);
  const query = `channel=${TICK_MS}ms`;
  const streams = await openStreams({ port, query, count: READERS, assetsOf: () => [0] });
  const askAdmin = adminConnection(adminPort);
  await askAdmin('/livez');
  const idle = await cpuPercent(service, WATCH_MS[scale]);

  /** Opens connections, and counts what the clients from before receive meanwhile. */
  const crowd = async (visit: (i: number) => Visitor) => {
    const visitors = Array.from({ length: CONNECTIONS }, (_, i) => visit(i));
    await pause(1_000);
    const [framesBefore, answersBefore] = [streams.frames, publisher.delaysMs.length];
    const busy = await cpuPercent(service, WATCH_MS[scale]);
    // The check waits for events, because on a busy machine a smoke run may be too short for any event.
    await until('a frame comes', () => streams.frames > framesBefore);
    await until('an update is answered', () => publisher.delaysMs.length > answersBefore);
    return { visitors, busy, frames: streams.frames - framesBefore };
  };
  // Each client has its own address, because an address may use only half of the free handles.
  const ownAddress = (i: number) => `127.0.${3 + (i >> 7)}.${1 + (i & 127)}`;
  const clients = await crowd((i) => new Visitor(port, ownAddress(i)));
  const livezStatus = await askAdmin('/livez');
  const served = clients.visitors.filter(({ isAnswered }) => isAnswered).length;
  for (const visitor of clients.visitors) visitor.leave();
  const startMs = performance.now();
  await until('a new connection is served', () => isServed(port));
  const recoveryMs = performance.now() - startMs;
  await until('it is ready again', async () => (await askAdmin('/readyz')) === 200);

  const scrapers = await crowd(() => new Visitor(adminPort));
  const readyzStatus = await askAdmin('/readyz');
  for (const scraper of scrapers.visitors) scraper.leave();
  await until('the admin listener serves again', () => isServed(adminPort));
  stop();
  const closed = streams.closed + Number(publisher.isClosed);
  await service.stop();
  const busyMax = { atMost: idle + 20 };
  return [
    count(`of ${CONNECTIONS} more connections, ${HANDLES} handles, served`, served, { atLeast: HANDLES }),
    measured('CPU of the service before', idle, '% of a core'),
    timing('  without free handles', clients.busy, '% of a core', busyMax),
    timing('  with the connections on the admin listener', scrapers.busy, '% of a core', busyMax),
    count('/livez on a connection from before', livezStatus, exactly(200)),
    count('/readyz on it, with those on the admin listener', readyzStatus, exactly(503)),
    count('frames to those connected meanwhile', Math.min(clients.frames, scrapers.frames), SOME),
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

/** Returns a function that asks on one connection that stays open, and returns the HTTP status; 0 without an answer. */
function adminConnection(port: number): (path: string) => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (path) =>
    new Promise((resolve) => {
      get({ port, path, agent, timeout: HANG_MS }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode!));
      })
        .on('timeout', () => resolve(0))
        .on('error', () => resolve(0));
    });
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
async function isServed(port: number): Promise<boolean> {
  const visitor = new Visitor(port);
  const endMs = performance.now() + 500;
  while (!visitor.isAnswered && performance.now() < endMs) await pause(10);
  visitor.leave();
  return visitor.isAnswered;
}
