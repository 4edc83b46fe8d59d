import { clientFrame, openFrameSocket } from '../../scripts/load/frame_socket.js';
import { pause } from '../../scripts/load/wait.js';
import { STREAM_PATH } from '../../src/wire/paths.js';
import { FrameAccount } from './frame_account.js';
import type { ReadersJob, RunningJob } from './jobs.js';

const CONNECT_STEP_MS = 20;

/** The time after the end of the load in which a frame still counts. */
const GRACE_MS = 1_000;
const ERROR_HEAD = '{"type":"error"';

/**
 * Connects and subscribes at a bounded rate. Resolves when all connections have subscribed.
 * @param onRefused receives the service's message when it refuses a subscription
 */
export async function openReaders(
  job: ReadersJob,
  onRefused: (message: string) => void,
): Promise<RunningJob> {
  const { target, connections, connectionsPerSecond, query, intervalMs, assetIds } = job;
  const account = new FrameAccount(intervalMs, target.isSameClock, connections);
  const subscribe = clientFrame(JSON.stringify({ type: 'subscribe', assets: assetIds }));
  let closed = 0;
  const open = async (connection: number) => {
    const socket = await openFrameSocket({
      ...target.address,
      token: target.token,
      path: `${STREAM_PATH}?${query}`,
      onFrame: (payload) => {
        if (!account.receive(payload, connection) && payload.toString().startsWith(ERROR_HEAD))
          onRefused(payload.toString());
      },
      onClose: () => {
        closed++;
      },
    });
    socket.write(subscribe);
  };
  const startMs = performance.now();
  for (let opened = 0; opened < connections; ) {
    const due = Math.ceil(((performance.now() - startMs + CONNECT_STEP_MS) / 1_000) * connectionsPerSecond);
    const step: Promise<void>[] = [];
    for (; opened < Math.min(connections, due); opened++) step.push(open(opened));
    await Promise.all(step);
    await pause(CONNECT_STEP_MS);
  }
  return {
    begin: () => account.begin(),
    take() {
      const ended = closed;
      closed = 0;
      return { ...account.take(), closed: ended };
    },
    async finish() {
      account.end();
      await pause(GRACE_MS);
      account.countMissing();
    },
  };
}
