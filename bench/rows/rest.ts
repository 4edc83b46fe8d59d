import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { symbolOf, writeConfig } from '../../scripts/load/config.js';
import { fetchBody } from '../../scripts/load/fetch_body.js';
import { clientFrame } from '../../scripts/load/frame_socket.js';
import { type ServerProcess, startService } from '../../scripts/load/server_process.js';
import { percentile } from '../../scripts/load/statistics.js';
import { Updates } from '../../scripts/load/updates.js';
import { measureUsage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';
import { REST_PATHS } from '../../src/wire/paths.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';
import { type HistoryRange, storeCandles } from '../workloads/candles.js';
import { openPublisher } from '../workloads/publishers.js';
import { requestFor } from '../workloads/requests.js';

const ASSETS = 100;
const PUBLISHERS = 3;
const CONNECTIONS = 32;
const CANDLES: Readonly<Record<Scale, number>> = { full: 10_080, smoke: 100 };
const WARM_UP_MS: Readonly<Record<Scale, number>> = { full: 400, smoke: 10 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 700, smoke: 30 };
const CASES = ['latest of 1 asset', 'latest of 100 assets', 'history of 10,080 candles'] as const;
type Case = (typeof CASES)[number];

export const rest: Row = {
  name: 'rest',
  title: 'REST: answers per second and core',
  method:
    '32 connections that ask again as soon as they have their answer. Aggregates have three inputs. The peers send the ' +
    'same body, which they were given before, without looking at the request: a route of uWebSockets.js, and fastify. The ' +
    'service checks the token and its rate limit, and reads what is asked for. How many times faster than fastify the ' +
    'service can be at most is shown by the bare route: most of its time is the kernel, which is the same for all.',
  limit:
    'Against fastify the bare route of uWebSockets.js is the limit (the lines at the end): one asset’s answer is mostly the ' +
    'kernel’s reading and writing of a socket, which costs fastify as much. Of our own part, most is reading the headers ' +
    'and writing the answer (profile below).',
  rounds: 2,
  variants: {
    service: (scale) =>
      measure(scale, (service) => Promise.resolve({ server: service, stop: async () => {} })),
    'bare uWS': (scale) => measure(scale, peerOf('uws_route')),
    fastify: (scale) => measure(scale, peerOf('fastify_route')),
  },
  lines: () => [...CASES.map(line), ...CASES.map(limit)],
};

function line(name: Case): Line {
  const isTarget = name !== 'history of 10,080 candles';
  return {
    name,
    unit: 'answers/s per core',
    ours: { variant: 'service', figure: name },
    peers: [
      {
        name: 'bare uWS route',
        source: { variant: 'bare uWS', figure: name },
        ...(isTarget && { ratio: { atLeast: 0.7 } }),
      },
      {
        name: 'fastify',
        source: { variant: 'fastify', figure: name },
        ...(isTarget && { ratio: { atLeast: 3 } }),
      },
    ],
    shown: [
      { name: 'p50 of one alone', unit: 'ms', source: { variant: 'service', figure: `${name}: p50` } },
      { name: 'server', unit: 'cores', source: { variant: 'service', figure: `${name}: server cores` } },
      { name: 'client', unit: 'cores', source: { variant: 'service', figure: `${name}: client cores` } },
    ],
  };
}

/** The line of a server that does nothing but answer. */
function limit(name: Case): Line {
  return {
    name: `the limit: bare uWS route, ${name}`,
    of: 'bare uWS route',
    unit: 'answers/s per core',
    ours: { variant: 'bare uWS', figure: name },
    peers: [{ name: 'fastify', source: { variant: 'fastify', figure: name } }],
  };
}

/** Starts the server that answers with a body: the service, or a peer that is given the body. */
type ServerOf = (
  service: ServerProcess,
  body: string,
  dir: string,
) => Promise<{ readonly server: ServerProcess; stop(): Promise<void> }>;

function peerOf(name: string): ServerOf {
  return async (_service, body, dir) => {
    const file = join(dir, 'body.json');
    writeFileSync(file, body);
    const server = await startPeer(name, file);
    return { server, stop: () => server.stop() };
  };
}

async function measure(scale: Scale, serverOf: ServerOf): Promise<Measurement> {
  const config = writeConfig({
    signatureType: 'evm',
    assets: ASSETS,
    publishers: PUBLISHERS,
    clockPeriod: '60s',
  });
  const range = await storeCandles(config.file, CANDLES[scale]);
  const service = await startService(config.file);
  await publishAll(service);
  const figures: Record<string, number> = {};
  for (const name of CASES) {
    const path = pathOf(name, range);
    const { server, stop } = await serverOf(
      service,
      await fetchBody(service.port, path),
      dirname(config.file),
    );
    await requestFor(server.port, path, CONNECTIONS, WARM_UP_MS[scale]);
    const alone = await requestFor(server.port, path, 1, WARM_UP_MS[scale]);
    const { requests, usage } = await measureRequests(server, path, scale);
    figures[name] = requests / usage.serverCpuSeconds;
    figures[`${name}: p50`] = percentile(alone.delaysMs, 50);
    figures[`${name}: server cores`] = usage.serverShare;
    figures[`${name}: client cores`] = usage.clientShare;
    await stop();
  }
  await service.stop();
  return { figures };
}

/** What {@link CONNECTIONS} connections ask that ask again at once, and what it costs. */
async function measureRequests(server: ServerProcess, path: string, scale: Scale) {
  const end = measureUsage(server);
  const { requests } = await requestFor(server.port, path, CONNECTIONS, MEASURE_MS[scale]);
  return { requests, usage: end() };
}

/** Every asset gets a price of each publisher, and an aggregate of them: the one of the last, which moves it far enough. */
export async function publishAll(service: ServerProcess): Promise<void> {
  const updates = new Updates('evm');
  const all = Array.from({ length: ASSETS }, (_, asset) => asset);
  for (let i = 0; i < PUBLISHERS; i++) {
    const publisher = await openPublisher(service.port, 'evm');
    await publisher.settle(clientFrame(updates.message(i, all)));
    publisher.close();
  }
  const path = pathOf('latest of 100 assets', { fromS: 0, toS: 0 });
  for (;;) {
    const { data } = JSON.parse(await fetchBody(service.port, path)) as { data: object };
    if (Object.keys(data).length === ASSETS) return;
    await pause(10);
  }
}

export function pathOf(name: Case, { fromS, toS }: HistoryRange): string {
  switch (name) {
    case 'latest of 1 asset':
      return `${REST_PATHS.latest}?assets=${symbolOf(0)}`;
    case 'latest of 100 assets':
      return `${REST_PATHS.latest}?assets=${Array.from({ length: ASSETS }, (_, asset) => symbolOf(asset)).join()}`;
    case 'history of 10,080 candles':
      return `${REST_PATHS.history}?symbol=${symbolOf(0)}&resolution=1&from=${fromS}&to=${toS}`;
  }
}
