import { type Test, test } from 'tap';
import { eip191, evmAddress, isHashSignedBy } from '../../src/crypto/evm.js';
import { evmSigner, rememberEvmSigner } from '../../src/crypto/evm_signers.js';
import type { EvmVerifyJob } from '../../src/crypto/evm_verifier.js';
import { EvmVerifier } from '../../src/crypto/evm_verifier.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import type { SignatureVerdict } from '../../src/crypto/verdict.js';
import { EcdsaBatch } from '../../src/crypto/wasm/ecdsa_batch.js';
import { GROUP_ORDER as N } from '../../src/crypto/wasm/secp256k1_field_code.js';
import { word } from './crafted_signatures.js';

/** A number of signatures that is enough for a signer to get a table. */
const ENOUGH = 150;

function jobOf(key: bigint, number: bigint): EvmVerifyJob {
  const msgHash = word(number);
  const { signature, recovery } = secp256k1.sign(eip191(msgHash), word(key));
  return { msgHash, signature, recovery, address: evmAddress(secp256k1.publicKey(word(key))) };
}

function alone({ address, msgHash, signature, recovery }: EvmVerifyJob): SignatureVerdict {
  return isHashSignedBy(address, msgHash, signature, recovery) ? 'valid' : 'invalid signature';
}

const repeated = (job: EvmVerifyJob, count: number) => new Array<EvmVerifyJob>(count).fill(job);

/** Returns a verifier that has tables of these keys. */
function verifierOf(...keys: readonly bigint[]): EvmVerifier {
  const verifier = new EvmVerifier();
  for (const key of keys) verifier.verify(repeated(jobOf(key, 1n), ENOUGH));
  return verifier;
}

/** Starts to record the calls of batches. */
function watch(t: Test): { learned: number[]; batched: number } {
  const seen = { learned: [] as number[], batched: 0 };
  const { learn, add } = EcdsaBatch.prototype;
  EcdsaBatch.prototype.learn = function (key, publicKey65) {
    seen.learned.push(key);
    return learn.call(this, key, publicKey65);
  };
  EcdsaBatch.prototype.add = function (...signature) {
    seen.batched += 1;
    add.apply(this, signature);
  };
  t.teardown(() => Object.assign(EcdsaBatch.prototype, { learn, add }));
  return seen;
}

test('gives every job its verdict, known and unknown signers mixed, for every length', async (t) => {
  const [first, second] = [1_001n, 1_002n];
  const seen = watch(t);
  const verifier = verifierOf(first, second);
  const strangers = Array.from({ length: 7 }, (_, i) => jobOf(2_000n + BigInt(i), 5n));
  const jobs = Array.from({ length: 200 }, (_, i): EvmVerifyJob => {
    const good = jobOf(i % 3 === 0 ? first : second, BigInt(i));
    const s = BigInt(`0x${Buffer.from(good.signature).toString('hex', 32)}`);
    const otherParity = good.recovery === 0 ? 1 : 0;
    switch (i % 11) {
      case 1:
        return strangers[i % 7]!;
      case 2:
        return { ...good, msgHash: word(7n) };
      case 3:
        return { ...good, recovery: otherParity };
      case 4:
        return { ...good, address: strangers[i % 7]!.address };
      case 5:
        return { ...good, address: jobOf(i % 3 === 0 ? second : first, 1n).address };
      case 6: {
        const high = Buffer.concat([good.signature.subarray(0, 32), word(N - s)]);
        return { ...good, signature: high, recovery: otherParity };
      }
      case 7:
        return { ...good, signature: Buffer.concat([good.signature.subarray(0, 32), Buffer.alloc(32)]) };
      case 8:
        return { ...good, signature: Buffer.concat([word(N), good.signature.subarray(32)]) };
      default:
        return good;
    }
  });
  const wanted = jobs.map(alone);
  t.ok(wanted.filter((verdict) => verdict === 'valid').length > 60);
  t.ok(wanted.filter((verdict) => verdict === 'invalid signature').length > 60);
  t.same(seen.learned, [0, 1]);
  seen.batched = 0;
  for (const count of [0, 1, 2, 3, 4, 63, 64, 65, 66, 129, 200])
    t.same(verifier.verify(jobs.slice(0, count)), wanted.slice(0, count), `${count}`);
  t.ok(seen.batched > 200, `${seen.batched} in batches`);
  const withoutZero = jobs.filter((_, i) => i % 11 !== 7);
  t.same(verifier.verify(withoutZero), withoutZero.map(alone));
});

test('verifies again what a batch does not find valid', async (t) => {
  const key = 3_001n;
  const job = jobOf(key, 1n);
  // This test replaces `verify` to get wrong verdicts. Nobody can craft a job whose points are equal or opposite, because the
  // digest of a job is a hash.
  const verifier = verifierOf(key);
  const { verify } = EcdsaBatch.prototype;
  t.teardown(() => Object.assign(EcdsaBatch.prototype, { verify }));
  const damaged = { ...job, msgHash: word(2n) };
  EcdsaBatch.prototype.verify = function () {
    return verify.call(this).map(() => false);
  };
  t.same(verifier.verify([job, damaged, job, damaged]), [
    ...['valid', 'invalid signature'],
    ...['valid', 'invalid signature'],
  ]);
});

test('two signers whose addresses begin alike', async (t) => {
  const [known, other] = [jobOf(5_001n, 1n), jobOf(5_002n, 1n)];
  const verifier = verifierOf(5_001n);
  const alike = Buffer.concat([known.address.subarray(0, 4), other.address.subarray(4)]);
  const swapped = { ...known, address: alike };
  const jobs = [known, swapped, known, swapped, known];
  t.same(verifier.verify(jobs), jobs.map(alone));
  rememberEvmSigner(alike, secp256k1.publicKey(word(5_002n)));
  t.same(
    [known.address, alike].map((address) => evmSigner(address)?.address),
    [known.address, alike],
  );
  t.same(verifier.verify([known, { ...other, address: alike }]), ['valid', 'valid']);
  t.same(verifier.verify(jobs), jobs.map(alone));
});
