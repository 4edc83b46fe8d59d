import '../verify/verify_worker.js';
import { PROOF_WORKER_NAME, type ProofRequest, proofOf } from './proof.js';

// The program of both workers of the page. The client's worker verifies payloads. The worker named `PROOF_WORKER_NAME` verifies
// aggregates, one message after the other. Both workers have the same program because they share code.

if (self.name === PROOF_WORKER_NAME)
  self.onmessage = ({ data }: MessageEvent<ProofRequest>) => {
    postMessage(proofOf(data));
  };
