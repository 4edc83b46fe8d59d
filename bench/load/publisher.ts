import { clientFrame, openFrameSocket } from '../../scripts/load/frame_socket.js';
import { publishMessage } from '../../src/client/index.js';
import { createPriceSigner, parseSecretKey } from '../../src/client/node.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import { PUBLISH_PATHS, STREAM_PATH } from '../../src/wire/paths.js';
import { Delays, nowMicros } from './delays.js';
import type { RunningJob } from './job_main.js';
import type { PublisherJob } from './jobs.js';

/** The interval of the sending timer. Updates of one step are sent together, each with its own intended time. */
const STEP_MS = 2;
/** The first price of each asset. */
const PRICE = 100n * 10n ** 18n;
/** The longest time for which an update waits for its frame. */
const WAIT_MICROS_MAX = 10_000_000;

/** An update with its intended sending time in microseconds. */
interface WaitingUpdate {
  readonly price: string;
  readonly intended: number;
}

/**
 * Sends updates at a constant rate, even while the service is slow. A delay is the time from the intended sending time of an
 * update until this process reads a frame with its price or a later price of the asset. So a slow service cannot hide its delay
 * by slowing the publisher down, or by leaving out prices.
 */
export async function openPublisher(job: PublisherJob): Promise<RunningJob> {
  const { target, assets, updatesPerSecond } = job;
  const signer = createPriceSigner({
    signatureType: 'evm',
    secretKey: parseSecretKey(job.key)!,
    oracleId: job.oracleId,
  });
  const delays = new Delays();
  /** The updates of each asset that have not appeared in a frame yet, in order. */
  const waiting = new Map(assets.map(({ id }) => [String(id), [] as WaitingUpdate[]]));
  const counts = {
    frames: 0,
    bytes: 0,
    gaps: 0,
    different: 0,
    closed: 0,
    sent: 0,
    done: 0,
    refused: 0,
    lost: 0,
  };
  let taken = { ...counts };
  const onClose = () => {
    counts.closed++;
  };
  const reader = await openFrameSocket({
    ...target.address,
    token: target.token,
    path: `${STREAM_PATH}?channel=real_time`,
    onFrame(payload) {
      const micros = nowMicros();
      for (const [, id, price] of payload.toString('latin1').matchAll(/"id":(\d+),"v":"(\d+)"/g)) {
        const updates = waiting.get(id!) ?? [];
        const shown = updates.findIndex((update) => update.price === price);
        for (const { intended } of updates.splice(0, shown + 1)) {
          counts.done++;
          delays.recordMicros(micros - intended);
        }
      }
    },
    onClose,
  });
  reader.write(clientFrame(JSON.stringify({ type: 'subscribe', assets: assets.map(({ id }) => id) })));
  const publisher = await openFrameSocket({
    ...target.address,
    token: target.token,
    path: PUBLISH_PATHS.evm,
    onFrame: (payload) => {
      if (payload.includes('"rejected"') || payload.includes('"error"')) counts.refused++;
    },
    onClose,
  });
  const startMicros = nowMicros();
  let made = 0;
  setInterval(() => {
    const micros = nowMicros();
    const due = Math.floor(((micros - startMicros) / 1e6) * updatesPerSecond);
    for (; made < due; made++) {
      const { id, symbol } = assets[made % assets.length]!;
      const intended = startMicros + (made / updatesPerSecond) * 1e6;
      const price = (PRICE + BigInt(made)) as Price;
      const timestampNs = (BigInt(Math.floor(micros)) * 1_000n) as TimeNs;
      waiting.get(String(id))!.push({ price: String(price), intended });
      publisher.write(clientFrame(publishMessage('load', [signer.sign({ symbol, price, timestampNs })])));
      counts.sent++;
    }
    for (const updates of waiting.values()) {
      while (updates.length > 0 && micros - updates[0]!.intended > WAIT_MICROS_MAX) {
        updates.shift();
        counts.lost++;
      }
    }
  }, STEP_MS);
  return {
    take() {
      const since = Object.fromEntries(
        Object.entries(counts).map(([name, value]) => [name, value - taken[name as keyof typeof taken]]),
      ) as unknown as typeof counts;
      taken = { ...counts };
      return { ...since, delays: delays.take() };
    },
  };
}
