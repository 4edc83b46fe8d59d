import type { Frame } from '../client/prices/frame.js';
import { decodePayload } from '../client/verify/decode_payload.js';
import type { PayloadReport } from '../client/verify/verify_payload.js';
import { attributeFields } from '../wire/attribute_facts.js';

/** Returns the time of a frame; `undefined` for a payload of another layout. */
export function timeOf(frame: Frame): bigint | undefined {
  if (frame.type === 'unsigned') return frame.timestampNs;
  const payload = decodePayload(frame.payload);
  return 'check' in payload ? undefined : payload.timestampNs;
}

/** Returns the payload in the form of an unsigned frame, together with its signer, the verdict and the failed checks. */
export function decodedFrame({ payload, signer, verdict, checks }: PayloadReport): object {
  const failed = checks.filter(({ status }) => status === 'failed');
  return {
    type: 'signed_ecdsa',
    tax: payload?.taxonomyId,
    ts: payload?.timestampNs,
    a: payload?.assets.map(({ id, value, ...attributes }) => ({
      id,
      v: value.toString(),
      ...attributeFields(attributes),
    })),
    signer,
    verdict,
    failed: failed.map(({ name, reason }) => `${name}: ${reason}`),
  };
}
