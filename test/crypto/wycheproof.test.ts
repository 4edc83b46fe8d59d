import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { evmAddress, isCanonicalSignature, isSignedBy } from '../../src/crypto/evm.js';

/** [tcId, comment, flags, msg, sig as r and s, result] */
type WycheproofTest = [number, string, string[], string, string, 'valid' | 'invalid' | 'acceptable'];

interface WycheproofFile {
  origin: string;
  groups: { publicKey: string; tests: WycheproofTest[] }[];
}

/** Its x lies between n and the field's prime, which a recovery of 0 or 1 cannot say and no v of 27 or 28 either. */
const R_PAST_ORDER = 'k*G has a large x-coordinate';

for (const name of ['wycheproof-p1363', 'wycheproof-bitcoin']) {
  const file = JSON.parse(
    readFileSync(new URL(`../../../test/vectors/${name}.json`, import.meta.url), 'utf8'),
  ) as WycheproofFile;

  test(`${name}: accepts what is valid and has a low s, and nothing else`, async (t) => {
    let accepted = 0;
    for (const { publicKey, tests } of file.groups) {
      const address = evmAddress(Buffer.from(publicKey, 'hex'));
      for (const [tcId, comment, , msg, sig, result] of tests) {
        const digest = createHash('sha256').update(Buffer.from(msg, 'hex')).digest();
        const signature = Buffer.from(sig, 'hex');
        const isAccepted =
          isSignedBy(address, digest, signature, 0) || isSignedBy(address, digest, signature, 1);
        const isWanted = result === 'valid' && isCanonicalSignature(signature) && comment !== R_PAST_ORDER;
        t.equal(isAccepted, isWanted, `${tcId} ${comment} ${result}`);
        if (isAccepted) accepted += 1;
      }
    }
    t.ok(accepted > 90, `${accepted} accepted`);
  });
}
