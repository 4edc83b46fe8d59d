import type { Signers } from './checks.js';
import { type PayloadReport, verifyPayload } from './verify_payload.js';

// The module of the worker that verifies payloads. The worker sends `ready` after it has loaded. Then the worker answers each
// message with a single message.

/** A message to the worker. */
export interface PayloadToVerify {
  readonly id: number;
  readonly hex: string;
  readonly signers: Signers;
}

/** The worker's answer. */
export interface VerifiedPayload {
  readonly id: number;
  readonly report: PayloadReport;
}

/** The part of a worker's global scope that is used. */
interface WorkerScope {
  onmessage: (event: { readonly data: PayloadToVerify }) => void;
  postMessage(message: VerifiedPayload | 'ready'): void;
}

const scope = globalThis as unknown as WorkerScope;
scope.onmessage = ({ data: { id, hex, signers } }) => {
  scope.postMessage({ id, report: verifyPayload(hex, { signers }) });
};
scope.postMessage('ready');
