import { clientFrame, openFrameSocket } from '../../scripts/load/frame_socket.js';
import { pause } from '../../scripts/load/wait.js';
import { publishMessage } from '../../src/client/index.js';
import { createPriceSigner, parseSecretKey } from '../../src/client/node.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import { PUBLISH_PATHS, STREAM_PATH } from '../../src/wire/paths.js';
import { nowMicros } from './delays.js';
import type { PublisherJob, RunningJob } from './jobs.js';
import { PacedEvents, STEP_MS, WAIT_MICROS_MAX } from './paced_events.js';

/** The first price of each asset. */
const PRICE = 100n * 10n ** 18n;
/** The interval at which the end of the load looks for updates that still wait. */
const LOOK_MS = 20;
const TRACE_ID = /"trace_id":"(\d+)"/;

/** An update with its intended sending time in microseconds. */
interface WaitingUpdate {
  readonly price: string;
  readonly intended: number;
}

/**
 * Sends updates. A delay ends when this process reads a frame with the update's price or a later price of the asset, so a slow service cannot
 * hide its delay by leaving out prices.
 * @param onRefused receives the first message with which the service refuses an update
 */
export async function openPublisher(
  job: PublisherJob,
  onRefused: (message: string) => void,
): Promise<RunningJob> {
  const { target, assets, updatesPerSecond, signatureType, oracleId } = job;
  const signer = createPriceSigner({ signatureType, secretKey: parseSecretKey(job.key)!, oracleId });
  const connection = { ...target.address, token: target.token };
  const events = new PacedEvents(updatesPerSecond);
  const onClose = () => events.countClosed();
  /** The updates of each asset that have not appeared in a frame yet, in order. */
  const waiting = new Map(assets.map(({ id }) => [String(id), [] as WaitingUpdate[]]));
  let isSending = true;
  let hasRefused = false;
  const reader = await openFrameSocket({
    ...connection,
    path: `${STREAM_PATH}?channel=real_time`,
    onFrame(payload) {
      for (const [, id, price] of payload.toString('latin1').matchAll(/"id":(\d+),"v":"(\d+)"/g)) {
        const updates = waiting.get(id!) ?? [];
        const shown = updates.findIndex((update) => update.price === price);
        for (const { intended } of updates.splice(0, shown + 1)) events.count('done', intended);
      }
    },
    onClose,
  });
  reader.write(clientFrame(JSON.stringify({ type: 'subscribe', assets: assets.map(({ id }) => id) })));
  const publisher = await openFrameSocket({
    ...connection,
    path: PUBLISH_PATHS[signatureType],
    onFrame: (payload) => {
      const text = payload.toString();
      if (!text.includes('"rejected"') && !text.includes('"error"')) return;
      if (!hasRefused) onRefused(text);
      hasRefused = true;
      events.count('refused', events.intendedOf(Number(TRACE_ID.exec(text)?.[1] ?? events.made)));
    },
    onClose,
  });
  setInterval(() => {
    const micros = nowMicros();
    while (isSending) {
      const { made } = events;
      const intended = events.next(micros);
      if (intended === undefined) break;
      const { id, symbol } = assets[made % assets.length]!;
      const price = (PRICE + BigInt(made)) as Price;
      const timestampNs = (BigInt(Math.floor(micros)) * 1_000n) as TimeNs;
      waiting.get(String(id))!.push({ price: String(price), intended });
      const update = signer.sign({ symbol, price, timestampNs });
      publisher.write(clientFrame(publishMessage(String(made), [update])));
      events.count('sent', intended);
    }
    for (const updates of waiting.values())
      while (updates.length > 0 && micros - updates[0]!.intended > WAIT_MICROS_MAX)
        events.count('lost', updates.shift()!.intended);
  }, STEP_MS);
  return {
    begin: () => events.begin(),
    take: () => events.take(),
    async finish() {
      isSending = false;
      while ([...waiting.values()].some((updates) => updates.length > 0)) await pause(LOOK_MS);
    },
  };
}
