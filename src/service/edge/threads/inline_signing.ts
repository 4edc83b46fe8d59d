import { KECCAK256_BYTES } from '../../../crypto/keccak.js';
import { EVM_SIGNATURE_BYTES } from '../../../crypto/pool/jobs.js';

/** The largest number of digests that the thread signs at once, in order. These signatures take about 1 ms. */
const AT_ONCE_MAX = 16;

type SignEvm = (digests: Uint8Array, key: Uint8Array) => Uint8Array;

interface WaitingSignature {
  readonly digests: Uint8Array;
  readonly key: Uint8Array;
  readonly signatures: Uint8Array;
  signed: number;
  readonly resolve: (signatures: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Signs on the calling thread without blocking it for a long time. The function signs a few digests at once. More digests are signed over
 * several turns of the event loop, in the order of the calls.
 */
export function signInTurns(
  sign: SignEvm,
  nextTurn: (callback: () => void) => void,
): (digests: Uint8Array, key: Uint8Array) => Uint8Array | Promise<Uint8Array> {
  const waiting: WaitingSignature[] = [];

  function goOn(): void {
    const first = waiting[0]!;
    const { digests, key, signatures, signed } = first;
    try {
      const some = digests.subarray(signed * KECCAK256_BYTES, (signed + AT_ONCE_MAX) * KECCAK256_BYTES);
      signatures.set(sign(some, key), signed * EVM_SIGNATURE_BYTES);
      first.signed += some.length / KECCAK256_BYTES;
      if (first.signed * KECCAK256_BYTES === digests.length) waiting.shift()!.resolve(signatures);
    } catch (error) {
      waiting.shift()!.reject(error);
    }
    if (waiting.length > 0) nextTurn(goOn);
  }

  return (digests, key) => {
    const count = digests.length / KECCAK256_BYTES;
    if (count <= AT_ONCE_MAX && waiting.length === 0) return sign(digests, key);
    return new Promise((resolve, reject) => {
      const signatures = new Uint8Array(count * EVM_SIGNATURE_BYTES);
      if (waiting.push({ digests, key, signatures, signed: 0, resolve, reject }) === 1) nextTurn(goOn);
    });
  };
}
