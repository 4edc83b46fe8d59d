import type { SignatureType } from '../../wire/signatures.js';
import { EVM_RULES } from './evm_rules.js';
import type { SignatureRules } from './signature_rules.js';
import { STARK_RULES } from './stark_rules.js';

/**
 * The functions of each signature type: hash, verify, sign, and the forms of keys. The gate, the verifiers, the signer and the commands read
 * this table. The facts that clients share are in `wire/signatures.ts`.
 */
export const SIGNATURE_RULES: Readonly<Record<SignatureType, SignatureRules>> = {
  evm: EVM_RULES,
  stark: STARK_RULES,
};
