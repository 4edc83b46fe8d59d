import { eventually } from '../../scripts/load/wait.js';
import { PRICE_MAX } from '../../src/model/price.js';
import type { FakeClock } from '../clock/fake_clock.js';
import { Feed } from '../service/feed.js';
import { get, type TestService, TestSocket } from '../service/harness.js';

/** A service with a clock that the test moves. */
export type Stage = TestService & { readonly clock: FakeClock };

/** The result of an attempt that is not refused. */
export const WORKS = 'works';

/** The number of assets. The number is one above the limit of subscriptions of a connection, and of updates in a message. */
export const ASSETS_MAX = 1_001;

/** The number of ticks between two reads of the metrics. The number is above 1, because a read takes longer than a tick. */
const TICKS_PER_LOOK = 10;

/** Repeats an attempt. @returns the result of the first refused attempt, or of the last attempt */
export async function lastOf(count: number, attempt: () => Promise<string>): Promise<string> {
  for (let i = 1; i < count; i++) {
    const said = await attempt();
    if (said !== WORKS) return `the ${i}th: ${said}`;
  }
  return attempt();
}

export async function rest({ url }: Stage, path: string): Promise<string> {
  const response = await get(`${url}${path}`);
  const { error } = (await response.json()) as { error?: string };
  return response.status === 200 ? WORKS : `${response.status} ${error}`;
}

export async function answerTo(socket: TestSocket, message: unknown): Promise<string> {
  socket.send(message);
  const { type, error, rejected } = await socket.nextJson();
  if (type === 'error') return error as string;
  return Object.keys(rejected ?? {}).length === 0 ? WORKS : JSON.stringify(rejected);
}

export function control(socket: TestSocket, ids: readonly number[]): Promise<string> {
  return answerTo(socket, { type: 'subscribe', assets: ids, id: 1 });
}

/**
 * Opens connections. If the last connection is refused, closes another connection and tries the last one again, which must
 * succeed.
 */
export async function connections({ socketUrl }: Stage, paths: readonly string[]): Promise<string> {
  const open = (path: string) => TestSocket.open(socketUrl + path);
  const sockets = await Promise.all(paths.slice(0, -1).map(open));
  const last = paths.at(-1)!;
  const said = await open(last).then(
    () => WORKS,
    ({ message }: Error) => message,
  );
  if (said === WORKS) return said;
  await sockets[0]!.close();
  await open(last);
  return said;
}

/**
 * Makes a reader stop reading for some time of the fake clock. Another reader continues to read, which shows that the service still
 * works.
 */
export async function stall(stage: Stage, seconds: number): Promise<string> {
  const { clock, adminUrl } = stage;
  const metric = async (name: string) => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    return Number(new RegExp(`^tickseal_stream_${name}_total (\\d+)$`, 'm').exec(text)![1]);
  };
  const feed = await Feed.open(stage, { nowNs: () => clock.nowNs() });
  // The longest prices are used, because they fill the kernel's buffers fastest.
  await feed.accept(...symbols(ASSETS_MAX - 1).map((symbol) => ({ symbol, price: PRICE_MAX })));
  const [stalled, reader] = await Promise.all(
    [1, 2].map(() => TestSocket.open(`${stage.socketUrl}/ws?channel=10ms`)),
  );
  for (const socket of [stalled!, reader!]) await control(socket, [...Array(ASSETS_MAX - 1).keys()]);
  stalled!.ws.pause();
  const tick = (ms: number) => {
    clock.advanceMs(ms);
    return reader!.next();
  };
  // Every tick sends the newest prices again. This continues until the kernel's buffers are full.
  await eventually(async () => {
    for (let i = 0; i < TICKS_PER_LOOK; i++) await tick(10);
    return (await metric('frames_skipped')) > 0;
  });
  await tick(seconds * 1_000);
  if ((await metric('slow_consumers_closed')) === 0) return WORKS;
  stalled!.ws.resume();
  const { code, reason } = await stalled!.closed;
  return `${code} ${reason}`;
}

export function symbols(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `ASSET${i}`);
}
