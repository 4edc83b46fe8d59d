import type { Bus } from '../../../src/cluster/bus.js';
import { decodeLogBatch } from '../../../src/cluster/log/log_batch.js';
import { LogFollower } from '../../../src/cluster/log/log_follower.js';
import { LogWriter } from '../../../src/cluster/log/log_writer.js';
import { RecentRecords } from '../../../src/cluster/log/recent_records.js';
import { chainedRecord, RecordChain } from '../../../src/cluster/log/record_chain.js';
import { Checkpoints } from '../../../src/cluster/node/checkpoints.js';
import { decodeSubmit, encodeSubmit } from '../../../src/cluster/publishers/submit.js';
import type { Mutant } from './mutant.js';

/** Mutants of the tested code, by name. Each mutant lacks one rule of the real code, and the simulation must detect this. */
export const MUTANTS = {
  /** Sends a second write before the first write is acknowledged. The second write names the first record as its predecessor. */
  TWO_IN_FLIGHT: { bus: (bus) => twoInFlight(bus) },
  /**
   * Sends a second write too early, like the previous mutant. A write names only the sequence of its predecessor and not the ID,
   * so nothing protects the second write.
   */
  TWO_IN_FLIGHT_NO_ID: { bus: (bus) => twoInFlight(withoutId(bus)) },
  /** Lets a claim follow the end of the log, even if the node has not applied that record. */
  CLAIMS_AT_THE_END: {
    bus: (bus) => ({
      ...open(bus),
      append: async (after, id, bytes) => {
        const batch = decodeLogBatch(bytes);
        if (batch.claim === undefined || batch.claim.resign) return bus.append(after, id, bytes);
        const { last } = await bus.extent();
        const epoch = last.sequence + 1;
        const moved = chainedRecord({ ...batch, epoch, sequence: epoch, after: last.id });
        return bus.append(last, moved.id, moved.bytes);
      },
    }),
  },
  /** Claims after its own last record, although another node has reported later records. */
  CLAIMS_BEHIND: { patch: () => getter(LogFollower.prototype, 'isBehind', () => false) },
  /** Sends a tick without checking the lease. */
  SKIPS_LEASE: { skipsLease: true },
  /** Keeps no records from which lost records could be restored. */
  BRINGS_NOTHING_BACK: { patch: () => method(RecentRecords.prototype, 'restore', async () => 0) },
  /** Applies any readable record, without a check of its hash, place and predecessor. */
  BLIND_TO_THE_CHAIN: {
    patch: () => method(RecordChain.prototype, 'read', ({ bytes }) => decodeLogBatch(bytes)),
  },
  /** Sends a publisher's message to the next leader as if it were new. */
  SENDS_AS_NEW: {
    bus: (bus) => ({
      ...open(bus),
      ask: (topic, bytes, timeoutMs) => {
        if (!topic.startsWith('in.')) return bus.ask(topic, bytes, timeoutMs);
        return bus.ask(topic, encodeSubmit({ ...decodeSubmit(bytes), again: false }), timeoutMs);
      },
    }),
  },
  /** Acknowledges an update as durable before the log has it. */
  ACKNOWLEDGES_EARLY: { patch: () => method(LogWriter.prototype, 'durable', async () => {}) },
  /** Never writes an input again, so that the inputs of inactive assets expire from the log. */
  NO_CHECKPOINTS: { patch: () => method(Checkpoints.prototype, 'tick', () => {}) },
} as const satisfies Readonly<Record<string, Mutant>>;

function twoInFlight(bus: Bus): Bus {
  return {
    ...open(bus),
    append: (after, id, bytes) => {
      const result = bus.append(after, id, bytes);
      const { epoch, claim } = decodeLogBatch(bytes);
      const first = { sequence: after.sequence + 1, id };
      const second = chainedRecord({ epoch, sequence: first.sequence + 1, after: id, entries: [] });
      if (claim === undefined) bus.append(first, second.id, second.bytes).catch(() => {});
      return result;
    },
  };
}

function withoutId(bus: Bus): Bus {
  return {
    ...open(bus),
    append: ({ sequence }, id, bytes) => bus.append({ sequence, id: '' }, id, bytes),
  };
}

/** Returns an object with the methods of a bus, some of which a mutant replaces. */
function open(bus: Bus): Bus {
  return {
    append: (after, id, bytes) => bus.append(after, id, bytes),
    extent: () => bus.extent(),
    read: (after) => bus.read(after),
    onCommitted: (listener) => bus.onCommitted(listener),
    send: (topic, bytes) => bus.send(topic, bytes),
    listen: (topic, listener) => bus.listen(topic, listener),
    ask: (topic, bytes, timeoutMs) => bus.ask(topic, bytes, timeoutMs),
    answer: (topic, handler) => bus.answer(topic, handler),
    waitingBytes: 0,
    refusedMessages: 0,
    reconnect: () => bus.reconnect(),
    close: () => bus.close(),
  };
}

/** Replaces a method of a class. @returns a function that restores the method */
function method<T extends object, K extends keyof T>(prototype: T, name: K, replacement: T[K]): () => void {
  const own = prototype[name];
  prototype[name] = replacement;
  return () => {
    prototype[name] = own;
  };
}

/** Replaces a property that a class computes. @returns a function that restores the property */
function getter<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  replacement: () => T[K],
): () => void {
  const own = Object.getOwnPropertyDescriptor(prototype, name)!;
  Object.defineProperty(prototype, name, { ...own, get: replacement });
  return () => {
    Object.defineProperty(prototype, name, own);
  };
}
