import type { Check } from '../verify/checks.js';

/** The steps from publishers to the reader, in their order. */
export const PROOF_STEPS = ['publishers', 'price', 'root', 'signature', 'you'] as const;
export type ProofStep = (typeof PROOF_STEPS)[number];

const PUBLISHERS = /^(?:signed_prices|distinct publishers$|timestamp$)/;
const STEPS: Readonly<Record<string, ProofStep>> = {
  price: 'price',
  checksum: 'price',
  publisher_merkle_root: 'root',
};

/** Returns the step to which a check of an aggregate belongs. */
export function stepOf({ name }: Pick<Check, 'name'>): ProofStep {
  return PUBLISHERS.test(name) ? 'publishers' : (STEPS[name] ?? 'signature');
}
