import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { symbolOf, writeConfig } from '../../scripts/load/config.js';
import { fetchBody } from '../../scripts/load/fetch_body.js';
import { clientFrame } from '../../scripts/load/frame_socket.js';
import { openPublisher } from '../../scripts/load/publishers.js';
import { type AnswerTimes, measureAnswers, requestFor } from '../../scripts/load/requests.js';
import { type ServerProcess, startService } from '../../scripts/load/server_process.js';
import { percentile } from '../../scripts/load/statistics.js';
import { storePast } from '../../scripts/load/stored_past.js';
import { Updates } from '../../scripts/load/updates.js';
import { pause } from '../../scripts/load/wait.js';
import { NS_PER_SECOND } from '../../src/model/time.js';
import { REST_PATHS } from '../../src/wire/paths.js';
import { MINUTE_S } from '../../src/wire/resolution.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { addCores, coresOf } from '../harness/used_cores.js';
import { startPeer } from '../peers/start.js';
import { firstAssets } from '../workloads/frames.js';

const ASSETS = 100;
/** A further asset, which has only candles, so that its stored aggregate is in no answer. */
const CANDLE_ASSET = ASSETS;
const PUBLISHERS = 3;
const CANDLES: Readonly<Record<Scale, number>> = { full: 10_080, smoke: 100 };
const TIMES: Readonly<Record<Scale, AnswerTimes>> = {
  full: { warmUpMs: 1_000, measureMs: 700 },
  smoke: { warmUpMs: 10, measureMs: 30 },
};

/** A request, with the smallest allowed ratios to the number of answers of each peer. */
interface Case {
  readonly name: string;
  /** @param toS the time after the last stored candle, in UNIX seconds */
  readonly path: (toS: number, candles: number) => string;
  readonly ratios: Readonly<Partial<Record<'bare uWS' | 'fastify', number>>>;
}

const CASES: readonly Case[] = [
  ...[1, 10, 100].map((assets) => ({
    name: `latest of ${assets} asset${assets === 1 ? '' : 's'}`,
    path: () => latestPath(assets),
    ratios: { 'bare uWS': 0.7, fastify: 2 },
  })),
  {
    name: 'history of 10,080 candles',
    path: (toS, candles) => historyPath(CANDLE_ASSET, toS, candles),
    ratios: {},
  },
];

export const rest: Row = {
  name: 'rest',
  title: 'REST: answers per second and core',
  method:
    '32 connections that ask again as soon as they have their answer. Aggregates have one input. A route of uWebSockets.js ' +
    'and fastify send the same body, which they were given before, without looking at the request. ' +
    'The service checks the token and its rate limit, and reads what is asked for.',
  limit:
    'By a profile on Node 24 with a free core for each side, an answer for 1 asset takes the bare route 6.1 µs, the service 6.7, and fastify 10.7. So no answer can reach twice the number of fastify: the bare route itself has 1.75 times its answers ' +
    '(2.0 times for 10 assets: 7.2 and 14.4 µs), and 5.2 µs are the kernel’s reading and writing of the socket. ' +
    'In the service, V8 and its calls to and from C++, for the query, the headers and the body, take 0.9 µs (bare 0.4), uWebSockets.js 0.3, JavaScript 0.2, memory 0.2, and readings of the clock 0.1. ' +
    'The first 30,000 answers of a process cost up to twice as much, until V8 has compiled their code. So each side uses 1 s of CPU time before it is measured. ' +
    'In some rounds of 10 and 100 assets the busy client reads an answer in small pieces. The answer then goes out in many writes, which costs twice as much.',
  rounds: 5,
  variants: {
    service: (scale) => measure(scale),
    'bare uWS': (scale) => measure(scale, 'uws_route'),
    fastify: (scale) => measure(scale, 'fastify_route'),
  },
  lines: () => CASES.map(line),
};

function line({ name, ratios }: Case): Line {
  return {
    name,
    unit: 'answers/s per core',
    variant: 'service',
    figure: name,
    peers: (['bare uWS', 'fastify'] as const).map((variant) => {
      const atLeast = ratios[variant];
      return { variant, figure: name, ...(atLeast !== undefined && { ratio: { atLeast } }) };
    }),
    shown: [
      { name: 'p50 of one alone', unit: 'ms', variant: 'service', figure: `${name}: p50` },
      ...coresOf('service', name),
    ],
  };
}

/** @param peer the program that gives the same answer; if absent, measures the service */
async function measure(scale: Scale, peer?: string): Promise<Measurement> {
  const { file } = writeConfig({
    signatureType: 'evm',
    assets: ASSETS + 1,
    publishers: PUBLISHERS,
    clockPeriod: '60s',
  });
  const candles = CANDLES[scale];
  const minuteNs = BigInt(MINUTE_S) * NS_PER_SECOND;
  const stored = { aggregates: candles, stepNs: minuteNs, unitNs: minuteNs, firstAsset: CANDLE_ASSET };
  const { times } = await storePast(file, stored);
  const toS = Number(times.at(-1)! / NS_PER_SECOND) + MINUTE_S;
  const service = await startService(file);
  await publishAll(service);
  const figures: Figures = {};
  for (const { name, path: pathOf } of CASES) {
    const path = pathOf(toS, candles);
    const body = join(dirname(file), `${name}.json`);
    writeFileSync(body, await fetchBody(service.port, path));
    const server = peer === undefined ? service : await startPeer(peer, [body]);
    const usage = await measureAnswers(server, path, TIMES[scale]);
    const alone = await requestFor(server.port, path, 1, TIMES[scale].warmUpMs);
    figures[name] = usage.answersPerCpuSecond;
    figures[`${name}: p50`] = percentile(alone.delaysMs, 50);
    addCores(figures, name, usage);
    if (server !== service) await server.stop();
  }
  await service.stop();
  return { figures };
}

/** Starts a service in which each of 100 assets has an aggregate of three inputs. */
export async function startRestService(threads: number): Promise<ServerProcess> {
  // The period is long, because a newly signed aggregate has different inputs and a different length.
  const load = { assets: ASSETS, publishers: PUBLISHERS, clockPeriod: '1d', threads };
  const service = await startService(writeConfig({ signatureType: 'evm', ...load }).file);
  await publishAll(service);
  return service;
}

/**
 * Publishes a price of each asset for each publisher. The last publisher's price moves far enough to cause an aggregate of all publishers.
 */
async function publishAll(service: ServerProcess): Promise<void> {
  const updates = new Updates('evm');
  for (let i = 0; i < PUBLISHERS; i++) {
    const publisher = await openPublisher(service.port, 'evm');
    await publisher.settle(clientFrame(updates.message(i, firstAssets(ASSETS))));
    publisher.close();
  }
  for (;;) {
    const { data } = JSON.parse(await fetchBody(service.port, latestPath(ASSETS))) as { data: object };
    if (Object.keys(data).length === ASSETS) return;
    await pause(10);
  }
}

export function latestPath(assets: number): string {
  return `${REST_PATHS.latest}?assets=${firstAssets(assets).map(symbolOf).join()}`;
}

/** @param toS the time after the last candle, in UNIX seconds */
export function historyPath(asset: number, toS: number, candles: number): string {
  return `${REST_PATHS.history}?symbol=${symbolOf(asset)}&resolution=1&from=${toS - candles * MINUTE_S}&to=${toS}`;
}
