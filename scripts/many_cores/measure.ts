import { readFileSync } from 'node:fs';
import { REST_PATHS } from '../../src/wire/paths.js';
import { fetchBody } from '../load/fetch_body.js';
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
}

/** The connections of each client process that sends requests. */
const REST_CONNECTIONS = 32;
/** The handles that a process needs beside those of its readers. */
const OTHER_HANDLES = 500;

/**
 * Measures the answers and the frames of a service.
 * @param processes the number of client processes
 * @param figures receives each figure as soon as it is measured, so that a measurement that is ended keeps its first figures
 * @param onSkip receives the reason why readers are left out
 */
export async function measureServed(
  served: Served,
  processes: number,
  { warmUpMs, measureMs, readers }: Sizes,
  figures: Figures,
  onSkip: (line: string) => void,
): Promise<void> {
  const { ports } = served;
  /** Adds a rate, and the rate by the CPU time of the service. */
  const addRate = async (name: string, count: () => Promise<number>) => {
    const startMs = performance.now();
    const before = served.cpuSeconds();
    const done = await count();
    figures[`${name}/s`] = (done * 1_000) / (performance.now() - startMs);
    figures[`${name}/s per core`] = done / (served.cpuSeconds() - before);
  };
  const path = `${REST_PATHS.latest}?assets=A0`;
  for (const port of ports) await eventually(async () => (await fetchBody(port, path)).includes('"A0"'));
  const connections = REST_CONNECTIONS * processes;
  const requests = await Clients.open({ ports, kind: 'requests', asked: path, processes, connections });
  await requests.ask(warmUpMs);
  await addRate('answers of REST', () => requests.ask(measureMs));
  await requests.close();
  for (const [count, channel] of readers) {
    const load = `${count.toLocaleString('en-US')} readers at ${channel}`;
    if (count + OTHER_HANDLES > handlesMax()) {
      onSkip(`${load}: a process may open ${handlesMax()} files`);
      continue;
    }
    const asked = `channel=${channel}`;
    const clients = await Clients.open({ ports, kind: 'readers', asked, processes, connections: count });
    await pause(warmUpMs);
    await addRate(`${load}: frames`, async () => {
      const before = await clients.ask();
      await pause(measureMs);
      return (await clients.ask()) - before;
    });
    await clients.close();
  }
}

/** Returns the number of files that a process may have open. */
function handlesMax(): number {
  return Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 1_024);
}
