import { clientFrame, openFrameSocket } from '../../scripts/load/frame_socket.js';
import { STREAM_PATH } from '../../src/wire/paths.js';
import { FrameAccount } from './frame_account.js';
import type { RunningJob } from './job_main.js';
import type { ReadersJob } from './jobs.js';

const CONNECT_STEP_MS = 20;

/** Connects and subscribes at a bounded rate. Resolves when all connections have subscribed. */
export async function openReaders(job: ReadersJob): Promise<RunningJob> {
  const { target, connections, connectionsPerSecond, query, intervalMs, assetIds } = job;
  const account = new FrameAccount(intervalMs, target.isSameClock, connections);
  const subscribe = clientFrame(JSON.stringify({ type: 'subscribe', assets: assetIds }));
  let closed = 0;
  const startMs = performance.now();
  for (let opened = 0; opened < connections; ) {
    const due = Math.ceil(((performance.now() - startMs + CONNECT_STEP_MS) / 1_000) * connectionsPerSecond);
    const count = Math.min(connections, due) - opened;
    const step = Array.from({ length: Math.max(0, count) }, (_, i) => opened + i);
    opened += step.length;
    await Promise.all(
      step.map(async (connection) => {
        const socket = await openFrameSocket({
          ...target.address,
          token: target.token,
          path: `${STREAM_PATH}?${query}`,
          onFrame: (payload) => account.receive(payload, connection),
          onClose: () => {
            closed++;
          },
        });
        socket.write(subscribe);
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, CONNECT_STEP_MS));
  }
  return {
    take() {
      const ended = closed;
      closed = 0;
      return {
        ...account.take(),
        closed: ended,
        sent: 0,
        done: 0,
        refused: 0,
        lost: 0,
        delays: account.delays.take(),
      };
    },
  };
}
