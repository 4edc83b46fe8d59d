import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { evmAddress, isCanonicalSignature, isSignedBy } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { BATCH_MAX, EcdsaBatch } from '../../src/crypto/wasm/ecdsa_batch.js';

/** The fields of a test: tcId, comment, flags, msg, sig as r and s, result. */
type WycheproofTest = [number, string, string[], string, string, 'valid' | 'invalid' | 'acceptable'];

interface WycheproofFile {
  origin: string;
  groups: { publicKey: string; tests: WycheproofTest[] }[];
}

/**
 * The flag of nonce points whose x is between n and the field's prime. Neither a recovery of 0 or 1 nor a v of 27 or 28 can
 * express such an x.
 */
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

  test(`${name}: a batch accepts nothing else, and the same but where points meet`, async (t) => {
    const batch = new EcdsaBatch(1);
    let [accepted, undecided] = [0, 0];
    for (const { publicKey, tests } of file.groups) {
      const key = Buffer.from(publicKey, 'hex');
      batch.learn(0, key);
      // All signatures of a key, up to the size of a batch. Each signature occurs with both parities.
      const signed = tests
        .map(([tcId, , , msg, sig]) => ({
          tcId,
          digest: createHash('sha256').update(Buffer.from(msg, 'hex')).digest(),
          signature: Buffer.from(sig, 'hex'),
        }))
        .filter(({ signature }) => isCanonicalSignature(signature))
        .flatMap((one) => ([0, 1] as const).map((recovery) => ({ ...one, recovery })));
      for (let from = 0; from < signed.length; from += BATCH_MAX) {
        const some = signed.slice(from, from + BATCH_MAX);
        for (const { digest, signature, recovery } of some) batch.add(0, digest, signature, recovery);
        for (const [i, verdict] of batch.verify().entries()) {
          const { tcId, digest, signature, recovery } = some[i]!;
          const recovered = secp256k1.recover(digest, signature, recovery);
          const isValid = recovered !== undefined && key.equals(recovered);
          if (verdict) accepted += 1;
          else if (isValid) undecided += 1;
          if (verdict) t.ok(isValid, `${tcId} ${recovery}`);
        }
      }
    }
    t.comment(`${accepted} accepted, ${undecided} undecided`);
    t.ok(accepted > 80, `${accepted} accepted`);
    t.ok(undecided < 20, `${undecided} undecided`);
  });
}
