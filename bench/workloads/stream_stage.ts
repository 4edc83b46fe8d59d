import { SERVICE_KEY } from '../../scripts/load/keys.js';
import { StreamTimes } from '../../src/clock/stream_times.js';
import type { MarkPlace } from '../../src/clock/written_mark.js';
import { keccak256Into } from '../../src/crypto/keccak.js';
import { createCryptoJobs } from '../../src/crypto/pool/jobs.js';
import { UNLIMITED } from '../../src/model/budget.js';
import { createCounters } from '../../src/model/counters.js';
import { NS_PER_MS, type TimeNs } from '../../src/model/time.js';
import { StreamEngine } from '../../src/stream/engine.js';
import { StreamSession } from '../../src/stream/group.js';
import type { MessageType } from '../../src/wire/stream.js';
import { MASK_PRICE } from '../../src/wire/stream_attributes.js';
import { filledTable } from './stream_table.js';

/** A store of marks in memory. Signed times need a mark, but this bench does not measure writing marks to disk. */
const NO_DISK: MarkPlace = { read: () => undefined, write: (_timeNs, onSettled) => onSettled(true) };
/** A time with 19 digits. All times between 2001 and 2286 have 19 digits. */
export const STAGE_TIME_NS = 1_735_689_600_000_000_000n as TimeNs;

/** Returns the name of a figure about frames with this number of assets. */
export function sizeName(assets: number): string {
  return assets === 1 ? '1 asset' : `${assets} assets`;
}

const { signEvm, signOneEvm } = createCryptoJobs();

/** @param digests one or more digests, without gaps */
export function signPayloads(digests: Uint8Array): Uint8Array {
  return signEvm(digests, SERVICE_KEY);
}

export function signPayload(digest: Uint8Array): Uint8Array {
  return signOneEvm(digest, SERVICE_KEY);
}

/**
 * Creates the stream engine with one connection, without a socket. The connection subscribes to all assets at 10 ms.
 * @returns a function that moves the clock forward by 10 ms, so that the engine makes one frame
 */
export function frameByFrame(
  assets: number,
  messageType: MessageType,
  onFrame: (frame: Uint8Array) => void,
  binary = false,
): () => void {
  const { table, indexes } = filledTable(assets);
  let nowNs: TimeNs = STAGE_TIME_NS;
  const clock = { nowNs: () => nowNs };
  const engine = new StreamEngine({
    table,
    catalogue: {
      listed: indexes.map((index) => ({ index, id: index })),
      assets: indexes.map((index) => ({ symbol: `A${index}` })),
    },
    taxonomyId: 1,
    clock,
    times: new StreamTimes({ clock, node: 0, thread: 0, placeOf: () => NO_DISK }),
    statusesAt: () => new Uint8Array(assets),
    digest: keccak256Into,
    signOne: signPayload,
    sign: signPayloads,
    publish: (_topic, frame) => onFrame(frame),
    newTopic: () => 0,
    defer: (callback) => callback(),
    limits: {
      clientMessageBytes: 1_000_000,
      subscriptionsPerConnection: assets,
      controlMessagesPerSecond: 10,
      subscriptionChangesPerSecond: 1,
      traceIdCharacters: 256,
      slowConsumerNs: NS_PER_MS,
    },
    counters: createCounters(),
    onDue: () => {},
  });
  const connection = {
    send: onFrame,
    join: () => {},
    leave: () => {},
    close: () => {},
  };
  const options = { channel: '10ms', messageType, mask: MASK_PRICE, binary } as const;
  const rights = { maySee: () => true };
  const budgets = { signedFrames: UNLIMITED, subscriptionChanges: UNLIMITED, controlMessages: UNLIMITED };
  const session = new StreamSession(connection, { streams: engine, options, rights, budgets });
  engine.receive(session, JSON.stringify({ type: 'subscribe', assets: indexes }));
  engine.tick(nowNs);
  return () => {
    nowNs = (nowNs + 10n * NS_PER_MS) as TimeNs;
    engine.tick(nowNs);
  };
}
