import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { symbolOf, TOKEN, writeConfig } from '../../scripts/load/config.js';
import { fetchBody } from '../../scripts/load/fetch_body.js';
import { clientFrame } from '../../scripts/load/frame_socket.js';
import { type ServerProcess, startService } from '../../scripts/load/server_process.js';
import { percentile } from '../../scripts/load/statistics.js';
import { Updates } from '../../scripts/load/updates.js';
import { measureUsage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';
import { REST_PATHS } from '../../src/wire/paths.js';
import { DAY_S, MINUTE_S } from '../../src/wire/resolution.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { type StartedPeer, startGo } from '../peers/go.js';
import { startPeer } from '../peers/start.js';
import { type HistoryRange, storeCandles } from '../workloads/candles.js';
import { openPublisher } from '../workloads/publishers.js';
import { requestFor } from '../workloads/requests.js';

const ASSETS = 100;
const PUBLISHERS = 3;
const CONNECTIONS = 32;
const CANDLES: Readonly<Record<Scale, number>> = { full: 10_080, smoke: 100 };
/**
 * The largest number of candles of today. The store gets this number of additional candles, so that there are enough candles
 * before today.
 */
const CANDLES_OF_TODAY_MAX = 1_440;
/** The time that V8 needs to compile the code of a request. */
const WARM_UP_MS: Readonly<Record<Scale, number>> = { full: 1_500, smoke: 10 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 700, smoke: 30 };
const LATEST_CASES = ['latest of 1 asset', 'latest of 10 assets', 'latest of 100 assets'] as const;
const HISTORY_CASES = ['history of 10,080 candles', 'history of 7 sealed days'] as const;
const CASES = [...LATEST_CASES, ...HISTORY_CASES] as const;
type Case = (typeof CASES)[number];
/** The smallest allowed ratios to the number of answers of each peer. A case without a ratio has no such peer. */
const RATIOS: Readonly<Record<Case, Readonly<Partial<Record<Peer, number>>>>> = {
  'latest of 1 asset': { 'bare uWS': 0.7, fastify: 2 },
  'latest of 10 assets': { 'bare uWS': 0.7, fastify: 2 },
  'latest of 100 assets': { 'bare uWS': 0.7, fastify: 2 },
  // The service writes the candles of today again for each answer.
  'history of 10,080 candles': {},
  'history of 7 sealed days': { 'bare uWS': 0.5 },
};
type Peer = 'bare uWS' | 'fastify';

export const rest: Row = {
  name: 'rest',
  title: 'REST: answers per second and core',
  method:
    '32 connections that ask again as soon as they have their answer. Aggregates have one input. A route of uWebSockets.js ' +
    'and fastify send the same body, which they were given before, without looking at the request. ' +
    'net/http in Go checks the token, reads what is asked for, and joins the JSON of the aggregates, which it keeps. ' +
    'The service checks the token and its rate limit, and reads what is asked for. ' +
    'A bound that the bare route itself misses in the same run becomes the share of the bare route that its own line asks for.',
  limit:
    'By a profile (`perf`) the kernel’s reading and writing of a socket is three fifths of an answer, and it costs all the same: see the bare ' +
    'route of uWebSockets.js, the lines at the end. For 1 asset the service takes 0.8 to 1.2 µs more than the bare route (6.9 and 6.1, 7.2 and 6.0 µs, medians of 25 and 21 turns on a busy machine). ' +
    'It was 0.35 µs more while each answer went out by `tryEnd`, which returns an array; now one in about 50 does, chosen at random, to find clients that do not read. ' +
    'By a sampled profile a quarter of the service’s own time in an answer is the query and the headers, a fifth the calls that write the answer, and a tenth three readings of the clock; ' +
    'the rest is the token, the rate limit, the look for the answer and the counts, none above a tenth. ' +
    'In a loop of the JavaScript alone an answer takes 0.65 µs, of which 0.1 µs are gone without the rate limit, 0.05 without the counts, and 0.04 without two of the readings of the clock; ' +
    'a rate limit that makes fewer BigInts saved 0.02 µs there and nothing that a whole answer shows. ' +
    'In some rounds of 100 assets the client, which has a core of its own and ' +
    'is busy, reads an answer in small pieces: the server then has a third of a core, and an answer goes out in many writes, which costs twice as much. ' +
    'It was so in rounds of the service and of fastify, with BBR and with cubic as the congestion control of the kernel, and the median of five ' +
    'may be such a one.',
  rounds: 5,
  variants: {
    service: (scale) => measure(scale, CASES),
    'bare uWS': (scale) => measure(scale, CASES, ({ file }) => startPeer('uws_route', file)),
    fastify: (scale) => measure(scale, CASES, ({ file }) => startPeer('fastify_route', file)),
    'net/http': (scale) => measure(scale, LATEST_CASES, ({ all }) => startGo(scale, 'rest', all, TOKEN)),
  },
  lines: () => [...CASES.map(line), ...CASES.map(limit)],
};

function line(name: Case): Line {
  const ratios = RATIOS[name];
  const against = (label: string, variant: Peer) => ({
    name: label,
    source: { variant, figure: name },
    ...(ratios[variant] !== undefined && { ratio: { atLeast: ratios[variant] } }),
    ...(variant !== 'bare uWS' &&
      ratios['bare uWS'] !== undefined && { bare: bareRoute(name, ratios['bare uWS']) }),
  });
  return {
    name,
    unit: 'answers/s per core',
    ours: { variant: 'service', figure: name },
    peers: [
      against('bare uWS route', 'bare uWS'),
      against('fastify', 'fastify'),
      ...(isLatest(name) ? [{ name: 'net/http (Go)', source: { variant: 'net/http', figure: name } }] : []),
    ],
    shown: [
      { name: 'p50 of one alone', unit: 'ms', source: { variant: 'service', figure: `${name}: p50` } },
      { name: 'server', unit: 'cores', source: { variant: 'service', figure: `${name}: server cores` } },
      { name: 'client', unit: 'cores', source: { variant: 'service', figure: `${name}: client cores` } },
    ],
  };
}

/** Returns whether all peers have the case. */
function isLatest(name: Case): boolean {
  return (LATEST_CASES as readonly Case[]).includes(name);
}

function bareRoute(figure: Case, atLeast: number) {
  return { name: 'the bare uWS route', source: { variant: 'bare uWS', figure }, atLeast };
}

/** Returns the line of a server that sends a constant answer. */
function limit(name: Case): Line {
  return {
    name: `the limit: bare uWS route, ${name}`,
    of: 'bare uWS route',
    unit: 'answers/s per core',
    ours: { variant: 'bare uWS', figure: name },
    peers: [{ name: 'fastify', source: { variant: 'fastify', figure: name } }],
  };
}

/** The bodies with which a peer may answer. */
interface Bodies {
  /** The file with the answer to the request. */
  readonly file: string;
  /** The file with the latest aggregates of all assets. */
  readonly all: string;
}

/** @param startAnswering starts a peer; if absent, measures the service */
async function measure(
  scale: Scale,
  cases: readonly Case[],
  startAnswering?: (bodies: Bodies) => Promise<StartedPeer>,
): Promise<Measurement> {
  const config = writeConfig({
    signatureType: 'evm',
    assets: ASSETS,
    publishers: PUBLISHERS,
    clockPeriod: '60s',
  });
  const range = await storeCandles(config.file, CANDLES[scale] + CANDLES_OF_TODAY_MAX);
  const path = (name: Case) => pathOf(name, range, CANDLES[scale]);
  const service = await startService(config.file);
  await publishAll(service);
  const dir = dirname(config.file);
  const keepAnswer = async (name: Case): Promise<string> => {
    const file = join(dir, `${name}.json`);
    writeFileSync(file, await fetchBody(service.port, path(name)));
    return file;
  };
  const all = await keepAnswer('latest of 100 assets');
  const figures: Record<string, number> = {};
  for (const name of cases) {
    const server = (await startAnswering?.({ file: await keepAnswer(name), all })) ?? service;
    if ('missing' in server) {
      await service.stop();
      return { figures: {}, missing: server.missing };
    }
    await requestFor(server.port, path(name), CONNECTIONS, WARM_UP_MS[scale]);
    const alone = await requestFor(server.port, path(name), 1, WARM_UP_MS[scale]);
    const { requests, usage } = await measureRequests(server, path(name), scale);
    figures[name] = requests / usage.serverCpuSeconds;
    figures[`${name}: p50`] = percentile(alone.delaysMs, 50);
    figures[`${name}: server cores`] = usage.serverShare;
    figures[`${name}: client cores`] = usage.clientShare;
    if (server !== service) await server.stop();
  }
  await service.stop();
  return { figures };
}

/**
 * Measures the number of requests of {@link CONNECTIONS} connections, and the cost of these requests. Each connection sends its next
 * request immediately after an answer.
 */
async function measureRequests(server: ServerProcess, path: string, scale: Scale) {
  const end = measureUsage(server);
  const { requests } = await requestFor(server.port, path, CONNECTIONS, MEASURE_MS[scale]);
  return { requests, usage: end() };
}

/**
 * Publishes a price of each asset for each publisher. The last publisher's price moves far enough to cause an aggregate of all publishers.
 */
export async function publishAll(service: ServerProcess): Promise<void> {
  const updates = new Updates('evm');
  const all = Array.from({ length: ASSETS }, (_, asset) => asset);
  for (let i = 0; i < PUBLISHERS; i++) {
    const publisher = await openPublisher(service.port, 'evm');
    await publisher.settle(clientFrame(updates.message(i, all)));
    publisher.close();
  }
  const path = latestPath(ASSETS);
  for (;;) {
    const { data } = JSON.parse(await fetchBody(service.port, path)) as { data: object };
    if (Object.keys(data).length === ASSETS) return;
    await pause(10);
  }
}

function pathOf(name: Case, stored: HistoryRange, candles: number): string {
  switch (name) {
    case 'latest of 1 asset':
      return latestPath(1);
    case 'latest of 10 assets':
      return latestPath(10);
    case 'latest of 100 assets':
      return latestPath(100);
    case 'history of 10,080 candles':
      return historyPath(stored.toS, candles);
    case 'history of 7 sealed days':
      return historyPath(Math.floor(stored.toS / DAY_S) * DAY_S, candles);
  }
}

export function latestPath(assets: number): string {
  return `${REST_PATHS.latest}?assets=${Array.from({ length: assets }, (_, asset) => symbolOf(asset)).join()}`;
}

function historyPath(toS: number, candles: number): string {
  return `${REST_PATHS.history}?symbol=${symbolOf(0)}&resolution=1&from=${toS - candles * MINUTE_S}&to=${toS}`;
}
