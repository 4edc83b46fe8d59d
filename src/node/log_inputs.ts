import type { InputStore } from '../aggregator/aggregator.js';
import type { Term } from '../cluster/leading/term.js';
import { encodeAcceptedInput } from '../records/accepted_input.js';
import type { Store } from '../store/store.js';

/** The accepted inputs of a leader: they go to the log, and every aggregator stores them when they come back from it. */
export function logInputs(term: Term, store: Pick<Store, 'inputs'>): InputStore {
  return {
    putInput({ symbol, signatureType }, publisherKey, input, seen) {
      const bytes = new Uint8Array(encodeAcceptedInput({ input, seen }));
      term.append({ symbol, signatureType, publisherKey, bytes });
    },
    inputs: () => store.inputs(),
  };
}
