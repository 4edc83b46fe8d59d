import '../verify/verify_worker.js';
import { PROOF_WORKER_NAME, type ProofRequest, proofOf } from './proof.js';

// The program of both workers of the page, because they share code: the client's worker, which verifies payloads, and the worker
// with its own name that verifies aggregates, one message after the other.

if (self.name === PROOF_WORKER_NAME)
  self.onmessage = ({ data }: MessageEvent<ProofRequest>) => {
    postMessage(proofOf(data.answer, data.symbol, data));
  };
