import type { Bus } from '../../../src/cluster/bus.js';
import { decodeLogBatch } from '../../../src/cluster/log/log_batch.js';
import { chainedRecord } from '../../../src/cluster/log/record_chain.js';
import type { Mutant } from './simulated_node.js';

/**
 * Sends a second write before the first write is acknowledged. The second write names the first record as its predecessor.
 */
export const TWO_IN_FLIGHT: Mutant = {
  bus: (bus) =>
    changed(bus, (after, id, bytes) => {
      const result = bus.append(after, id, bytes);
      const { epoch, claim } = decodeLogBatch(bytes);
      const first = { sequence: after.sequence + 1, id };
      const second = chainedRecord({ epoch, sequence: first.sequence + 1, after: id, entries: [] });
      if (claim === undefined) bus.append(first, second.id, second.bytes).catch(() => {});
      return result;
    }),
};

/** Names only the sequence of the record that a write follows, and not the ID of that record. */
export const NO_ID: Mutant = {
  bus: (bus) => changed(bus, ({ sequence }, id, bytes) => bus.append({ sequence, id: '' }, id, bytes)),
};

/**
 * Combines {@link TWO_IN_FLIGHT} and {@link NO_ID}. The second of two writes is then unprotected, because it names the first
 * record without its ID.
 */
export const TWO_IN_FLIGHT_NO_ID: Mutant = {
  bus: (bus, node) => TWO_IN_FLIGHT.bus!(NO_ID.bus!(bus, node), node),
};

/** Lets a claim follow the end of the log, even if the node has not applied that record. */
export const CLAIMS_AT_THE_END: Mutant = {
  bus: (bus) =>
    changed(bus, async (after, id, bytes) => {
      const batch = decodeLogBatch(bytes);
      if (batch.claim === undefined || batch.claim.resign) return bus.append(after, id, bytes);
      const { last } = await bus.extent();
      const epoch = last.sequence + 1;
      const moved = chainedRecord({ ...batch, epoch, sequence: epoch, after: last.id });
      return bus.append(last, moved.id, moved.bytes);
    }),
};

/** Sends a tick without checking the lease. */
export const SKIPS_LEASE: Mutant = { skipsLease: true };

function changed(bus: Bus, append: Bus['append']): Bus {
  return {
    append,
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
