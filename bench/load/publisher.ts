import { clientFrame, openFrameSocket } from '../../scripts/load/frame_socket.js';
import { publishMessage } from '../../src/client/index.js';
import { createPriceSigner, parseSecretKey } from '../../src/client/node.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import { PUBLISH_PATHS, STREAM_PATH } from '../../src/wire/paths.js';
import { Delays, nowMicros } from './delays.js';
import type { RunningJob } from './job_main.js';
import { NO_COUNTS, type PublisherJob, WAIT_MICROS_MAX } from './jobs.js';
import { Schedule, STEP_MS } from './schedule.js';

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
 * Sends updates at a constant rate, even while the service is slow. A delay is the time from the intended sending time of an
 * update until this process reads a frame with its price or a later price of the asset. So a slow service cannot hide its delay
 * by slowing the publisher down, or by leaving out prices.
 * @param onRefused receives the first message with which the service refuses an update
 */
export async function openPublisher(
  job: PublisherJob,
  onRefused: (message: string) => void,
): Promise<RunningJob> {
  const { target, assets, updatesPerSecond, signatureType } = job;
  const signer = createPriceSigner({
    signatureType,
    secretKey: parseSecretKey(job.key)!,
    oracleId: job.oracleId,
  });
  const delays = new Delays();
  /** The updates of each asset that have not appeared in a frame yet, in order. */
  const waiting = new Map(assets.map(({ id }) => [String(id), [] as WaitingUpdate[]]));
  let counts = { ...NO_COUNTS };
  /** The intended time of the first update that counts. */
  let sinceMicros = Number.POSITIVE_INFINITY;
  /** The number of the first update that counts. It is the update's trace ID. */
  let firstMade = Number.POSITIVE_INFINITY;
  let isSending = true;
  let hasRefused = false;
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
          if (intended < sinceMicros) continue;
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
    path: PUBLISH_PATHS[signatureType],
    onFrame: (payload) => {
      const text = payload.toString();
      if (!text.includes('"rejected"') && !text.includes('"error"')) return;
      if (Number(TRACE_ID.exec(text)?.[1] ?? firstMade) < firstMade) return;
      if (!hasRefused) onRefused(text);
      hasRefused = true;
      counts.refused++;
    },
    onClose,
  });
  const schedule = new Schedule(nowMicros(), updatesPerSecond);
  setInterval(() => {
    const micros = nowMicros();
    while (isSending) {
      const { made } = schedule;
      const intended = schedule.next(micros);
      if (intended === undefined) break;
      const { id, symbol } = assets[made % assets.length]!;
      const price = (PRICE + BigInt(made)) as Price;
      const timestampNs = (BigInt(Math.floor(micros)) * 1_000n) as TimeNs;
      waiting.get(String(id))!.push({ price: String(price), intended });
      publisher.write(
        clientFrame(publishMessage(String(made), [signer.sign({ symbol, price, timestampNs })])),
      );
      if (intended >= sinceMicros) counts.sent++;
    }
    for (const updates of waiting.values()) {
      while (updates.length > 0 && micros - updates[0]!.intended > WAIT_MICROS_MAX) {
        const { intended } = updates.shift()!;
        if (intended < sinceMicros) continue;
        counts.lost++;
        delays.recordMicros(micros - intended);
      }
    }
  }, STEP_MS);
  return {
    begin() {
      sinceMicros = nowMicros();
      firstMade = schedule.made;
      counts = { ...NO_COUNTS, closed: counts.closed };
    },
    take() {
      const taken = counts;
      counts = { ...NO_COUNTS };
      return { ...taken, delays: delays.take() };
    },
    async finish() {
      isSending = false;
      while ([...waiting.values()].some((updates) => updates.length > 0))
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    },
  };
}
