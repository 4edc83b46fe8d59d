/** The verifier of proofs that a public log contains a price, for Node and browsers. The verifier needs no other part of the client. */

export type { BatchEntry } from '../tlog/batch_entry.js';
export { type VerifyEd25519, verifyByWebCrypto } from '../tlog/ed25519.js';
export { type LogPolicy, parsePolicy, type TrustedLog, type Witness } from '../tlog/log_policy.js';
export { openCheckpoint, requireQuorum, type SignedCheckpoint } from '../tlog/open_checkpoint.js';
export type { LoggedPrice } from '../tlog/price_proof.js';
export { type ProofFile, parseProofFile } from '../tlog/proof_file.js';
export { TlogError } from '../tlog/tlog_error.js';
export type { Checkpoint } from '../tlog/tree_checkpoint.js';
export { parseVerifierKey, type VerifierKey } from '../tlog/verifier_key.js';
export {
  type LogExpectations,
  type PriceToFind,
  recordOfPrice,
  verifyLogged,
} from './verify/logged_price.js';
