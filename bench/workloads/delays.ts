import { clientFrame } from '../../scripts/load/frame_socket.js';
import { percentile } from '../../scripts/load/statistics.js';
import { openStreams } from '../../scripts/load/streams.js';
import { publishMessage, type Updates } from '../../scripts/load/updates.js';
import { pause } from '../../scripts/load/wait.js';
import type { Figures } from '../harness/row.js';
import { openPublisher } from './publishers.js';

/** The time, in ms, between two updates with a measured delay. */
export const INTERVAL_MS = 5;

/** The path of asset 0's updates: the port that receives updates, and the port that sends frames. */
export interface Way {
  readonly publishPort: number;
  readonly readPort: number;
  /** The query of `/ws`. */
  readonly query: string;
  /** The source of updates with growing times. */
  readonly updates: Updates;
}

/**
 * Sends messages before the measurement, because V8 interprets much of the code for the first few thousand messages, which is
 * several times slower.
 * @param burst the number of messages in each millisecond
 */
export async function warmUp(way: Way, subscribers: number, messages: number, burst: number): Promise<void> {
  const { readPort, publishPort, query, updates } = way;
  const streams = await openStreams({ port: readPort, query, count: subscribers, assetsOf: () => [0] });
  const publisher = await openPublisher(publishPort, 'evm', refuseReply);
  for (const [i, message] of makeMessages(updates, messages).entries()) {
    publisher.write(message);
    if (i % burst === 0) await pause(1);
  }
  await pause(20 * INTERVAL_MS);
  publisher.close();
  streams.close();
}

/**
 * Sends updates at an interval. Frames arrive long before the next update is sent, so a frame belongs to the last update.
 * @returns the delay in ms for each update and each subscriber.
 */
export async function measureDelays(way: Way, subscribers: number, messages: number): Promise<number[]> {
  const { readPort, publishPort, query, updates } = way;
  const delaysMs: number[] = [];
  let sentMs: number | undefined;
  const streams = await openStreams({
    port: readPort,
    query,
    count: subscribers,
    assetsOf: () => [0],
    onFrame() {
      // The first frame does not count, because this frame has an earlier price.
      if (sentMs !== undefined) delaysMs.push(performance.now() - sentMs);
    },
  });
  const publisher = await openPublisher(publishPort, 'evm', refuseReply);
  for (const message of makeMessages(updates, messages)) {
    await pause(INTERVAL_MS);
    sentMs = performance.now();
    publisher.write(message);
  }
  await pause(20 * INTERVAL_MS);
  publisher.close();
  streams.close();
  return delaysMs;
}

export function addPercentiles(figures: Figures, name: string, delaysMs: readonly number[]): void {
  figures[`${name}: p50`] = percentile(delaysMs, 50);
  figures[`${name}: p99`] = percentile(delaysMs, 99);
}

function makeMessages(updates: Updates, count: number): Buffer[] {
  return Array.from({ length: count }, () => clientFrame(publishMessage([updates.update(0, 0).text])));
}

/** Throws an error on any reply, because valid updates get no reply. */
function refuseReply(text: string): never {
  throw new Error(text);
}
