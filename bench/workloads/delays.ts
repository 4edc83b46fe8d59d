import { clientFrame } from '../../scripts/load/frame_socket.js';
import { openPublisher } from '../../scripts/load/publishers.js';
import { percentile } from '../../scripts/load/statistics.js';
import { openStreams } from '../../scripts/load/streams.js';
import type { Updates } from '../../scripts/load/updates.js';
import { pause } from '../../scripts/load/wait.js';
import type { Figures } from '../harness/row.js';

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
 * several times slower. Three publishers send them, because V8 compiles the code again for other publishers than the first ones.
 * @param burst the number of messages in each millisecond
 */
export async function warmUp(way: Way, subscribers: number, messages: number, burst = 5): Promise<void> {
  for (let sent = 0; sent < 3; sent++) await send(way, subscribers, messages / 3, { pauseMs: 1, burst });
}

/**
 * Sends updates at an interval. Frames arrive long before the next update is sent, so a frame belongs to the last update.
 * @returns the delay in ms for each update and each subscriber.
 */
export async function measureDelays(way: Way, subscribers: number, messages: number): Promise<number[]> {
  const delaysMs: number[] = [];
  let sentMs: number | undefined;
  await send(way, subscribers, messages, {
    pauseMs: INTERVAL_MS,
    burst: 1,
    onSend: () => {
      sentMs = performance.now();
    },
    onFrame() {
      // The first frame does not count, because this frame has an earlier price.
      if (sentMs !== undefined) delaysMs.push(performance.now() - sentMs);
    },
  });
  return delaysMs;
}

interface Pace {
  /** The time before each burst of messages. */
  readonly pauseMs: number;
  readonly burst: number;
  readonly onSend?: () => void;
  readonly onFrame?: () => void;
}

async function send(way: Way, subscribers: number, messages: number, pace: Pace): Promise<void> {
  const { readPort: port, publishPort, query, updates } = way;
  const { pauseMs, burst, onSend, onFrame = () => {} } = pace;
  const streams = await openStreams({ port, query, count: subscribers, assetsOf: () => [0], onFrame });
  const publisher = await openPublisher(publishPort, 'evm', refuseReply);
  const frames = Array.from({ length: messages }, () => clientFrame(updates.message(0, [0])));
  for (const [i, frame] of frames.entries()) {
    if (i % burst === 0) await pause(pauseMs);
    onSend?.();
    publisher.write(frame);
  }
  await pause(20 * INTERVAL_MS);
  publisher.close();
  streams.close();
}

export function addPercentiles(figures: Figures, name: string, delaysMs: readonly number[]): void {
  figures[`${name}: p50`] = percentile(delaysMs, 50);
  figures[`${name}: p99`] = percentile(delaysMs, 99);
}

/** Throws an error on any reply, because valid updates get no reply. */
function refuseReply(text: string): never {
  throw new Error(text);
}
