import { test } from 'tap';
import { verifyPayload } from '../../src/client/verify/verify_payload.js';
import { SIGNER, signed } from '../client/signed_payload.js';
import { bodyOf, MASKS } from './attribute_bodies.js';

for (const mask of MASKS) {
  test(`a payload with mask ${mask} and a changed byte is never accepted`, async (t) => {
    const bytes = Buffer.from(signed(Buffer.from(bodyOf(mask), 'hex')).slice(2), 'hex');
    const isAccepted = (payload: Buffer) =>
      verifyPayload(payload.toString('hex'), { signers: [SIGNER] }).verdict === 'verified';
    t.ok(isAccepted(bytes));
    const accepted = [...bytes.keys()].filter((at) => {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << (at % 8);
      return isAccepted(changed);
    });
    t.same(accepted, [], `${bytes.length} changed bytes`);
  });
}
