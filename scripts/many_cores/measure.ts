import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REST_PATHS } from '../../src/wire/paths.js';
import { ORACLE_ID, symbolOf, TOKEN } from '../load/config.js';
import { fetchBody } from '../load/fetch_body.js';
import { measureIngest } from '../load/ingest.js';
import { publisherKeys } from '../load/keys.js';
import { eventually, pause } from '../load/wait.js';
import { Clients } from './client.js';
import type { Served } from './served.js';

/** The figures of a service, by name. */
export type Figures = Record<string, number>;

/** The sizes of the measurements. Times are in milliseconds. */
export interface Sizes {
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** The readers: their number and their channel. */
  readonly readers: readonly (readonly [connections: number, channel: string])[];
  /** The number of updates that an ingest counts, after as many that it does not count. */
  readonly updates: number;
}

const UPDATES_PER_SECOND = 200;
const REST_ASSETS = [1, 100];
/** The connections of each client process that sends requests. */
const REST_CONNECTIONS = 32;
/** The handles that a process needs beside those of its readers. */
const OTHER_HANDLES = 500;
/** The program of `npm run load`. */
const LOAD = fileURLToPath(new URL('../../bench/load/main.js', import.meta.url));

/**
 * Measures a service.
 * @param processes the number of client processes
 * @param figures receives each figure as soon as it is measured, so that a measurement that is ended keeps its first figures
 * @param onSkip receives the reason why readers are left out
 */
export async function measureServed(
  served: Served,
  processes: number,
  sizes: Sizes,
  figures: Figures,
  onSkip: (line: string) => void,
): Promise<void> {
  for (const assets of REST_ASSETS) await addAnswers(figures, served, processes, assets, sizes);
  await addDelays(figures, 'alone', served, sizes);
  for (const [connections, channel] of sizes.readers) {
    const load = `${connections.toLocaleString('en-US')} readers at ${channel}`;
    if (connections + OTHER_HANDLES > handlesMax()) {
      onSkip(`${load}: a process may open ${handlesMax()} files`);
      continue;
    }
    const { ports } = served;
    const clients = { ports, kind: 'readers', asked: `channel=${channel}`, processes, connections } as const;
    const readers = await Clients.open(clients);
    await pause(sizes.warmUpMs);
    await addRate(figures, `${load}: frames`, served, async () => {
      const before = await readers.ask();
      await addDelays(figures, `beside ${load}`, served, sizes);
      return (await readers.ask()) - before;
    });
    await readers.close();
  }
}

/** Measures the EVM updates that a new service accepts. */
export async function measureUpdates(threads: number, { updates }: Sizes): Promise<Figures> {
  const usage = await measureIngest({
    signatureType: 'evm',
    assets: 50,
    publishers: 5,
    updatesPerMessage: 50,
    updates,
    warmUpUpdates: updates,
    threads,
  });
  return {
    'EVM updates/s': updates / usage.wallSeconds,
    'EVM updates/s per core': usage.updatesPerCpuSecond,
  };
}

async function addAnswers(
  figures: Figures,
  served: Served,
  processes: number,
  assets: number,
  { warmUpMs, measureMs }: Sizes,
): Promise<void> {
  const symbols = Array.from({ length: assets }, (_, asset) => symbolOf(asset));
  const path = `${REST_PATHS.latest}?assets=${symbols.join()}`;
  const { ports } = served;
  for (const port of ports) await eventually(async () => (await answeredAssets(port, path)) === assets);
  const connections = REST_CONNECTIONS * processes;
  const requests = await Clients.open({ ports, kind: 'requests', asked: path, processes, connections });
  await requests.ask(warmUpMs);
  const name = `latest of ${assets} asset${assets === 1 ? '' : 's'}: answers`;
  await addRate(figures, name, served, () => requests.ask(measureMs));
  await requests.close();
}

async function answeredAssets(port: number, path: string): Promise<number> {
  const { data = {} } = JSON.parse(await fetchBody(port, path)) as { readonly data?: object };
  return Object.keys(data).length;
}

/** Measures the time from the intended moment of an update to its frame, with `npm run load`. */
async function addDelays(
  figures: Figures,
  beside: string,
  { ports }: Served,
  { warmUpMs, measureMs }: Sizes,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-many-cores-'));
  const result = join(dir, 'result.json');
  writeFileSync(join(dir, 'token'), TOKEN);
  writeFileSync(join(dir, 'key'), publisherKeys('evm', 0).secretKey.toString('hex'));
  const args =
    `--url ws://127.0.0.1:${ports[0]} --token-file ${dir}/token --readers 1 --assets 1 --channel real_time --type unsigned ` +
    `--warm-up ${warmUpMs}ms --for ${measureMs}ms --publish ${UPDATES_PER_SECOND} --key-file ${dir}/key --oracle-id ${ORACLE_ID} --json ${result}`;
  const child = spawn(process.execPath, [LOAD, ...args.split(' ')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'exit');
  const { total } = JSON.parse(readFileSync(result, 'utf8')) as { readonly total: LoadFigures };
  rmSync(dir, { recursive: true });
  const { p50Ms = Number.NaN, p99Ms = Number.NaN } = total.kinds.publisher;
  figures[`update to frame, ${beside}: p50 ms`] = p50Ms;
  figures[`update to frame, ${beside}: p99 ms`] = p99Ms;
}

/** The used figures of the result of `npm run load`. */
interface LoadFigures {
  readonly kinds: { readonly publisher: { readonly p50Ms?: number; readonly p99Ms?: number } };
}

/** Adds a rate, and the rate by the CPU time of the service. */
async function addRate(
  figures: Figures,
  name: string,
  served: Served,
  count: () => Promise<number>,
): Promise<void> {
  const startMs = performance.now();
  const before = served.cpuSeconds();
  const done = await count();
  figures[`${name}/s`] = (done * 1_000) / (performance.now() - startMs);
  figures[`${name}/s per core`] = done / (served.cpuSeconds() - before);
}

/** Returns the number of files that a process may have open. */
function handlesMax(): number {
  return Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 1_024);
}
