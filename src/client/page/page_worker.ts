import '../verify/verify_worker.js';
import { PROOF_WORKER_NAME, type ProofRequest, proofOf } from './proof.js';

// The program of both workers of the page, for what they have in common: the client's, which verifies payloads, and under its name the one
// that verifies aggregates, one message after the other.

if (self.name === PROOF_WORKER_NAME)
  self.onmessage = ({ data }: MessageEvent<ProofRequest>) => {
    postMessage(proofOf(data.answer, data.symbol, data));
  };
