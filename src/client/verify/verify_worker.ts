import type { Signers } from './checks.js';
import { type PayloadReport, verifyPayload } from './verify_payload.js';

// The module of the Web Worker that verifies payloads, for browsers. The option `worker` of a client is the module's address. The
// worker sends `ready` after loading, and then answers each message with a single message.

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
  postMessage: (message: VerifiedPayload | 'ready') => void;
}

const scope = globalThis as unknown as Partial<WorkerScope> & WorkerScope;
if (scope.postMessage === undefined)
  throw new TypeError(
    'tickseal-client/worker is the module of a Web Worker, which verifies payloads in browsers: bundle it and pass its address as the option `worker`. In Node the client verifies without it.',
  );
scope.onmessage = ({ data: { id, hex, signers } }) => {
  scope.postMessage({ id, report: verifyPayload(hex, { signers }) });
};
scope.postMessage('ready');
