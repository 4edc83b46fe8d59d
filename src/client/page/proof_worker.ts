import { verifyPayload } from '../verify/verify_payload.js';
import { proofOf } from './proof.js';
import type { Numbered, VerifyReports, VerifyRequest } from './verify_messages.js';

// The program of the worker. A verification takes milliseconds, and 60 frames a second leave 16 for all that the page does.

addEventListener('message', ({ data }: MessageEvent<Numbered<VerifyRequest>>) => {
  postMessage({ number: data.number, content: verify(data.content) } satisfies Numbered<unknown>);
});

function verify(request: VerifyRequest): VerifyReports[VerifyRequest['kind']] {
  if (request.kind === 'payload') {
    const { hex, signers, taxonomyId } = request;
    return verifyPayload(hex, { signers, taxonomyId });
  }
  return proofOf(request.answer, request.symbol, request);
}
