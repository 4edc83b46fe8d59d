import type { EvmSignature } from '../../crypto/pool.js';

/** So many are signed at once, in order; some 1 ms. */
const AT_ONCE_MAX = 16;

type SignEvm = (digests: readonly Uint8Array[], key: Uint8Array) => EvmSignature[];

interface Waiting {
  readonly digests: readonly Uint8Array[];
  readonly key: Uint8Array;
  readonly signatures: EvmSignature[];
  readonly resolve: (signatures: EvmSignature[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Signs on the calling thread and lets it go on between: a few at once, and more over several turns of its event loop, in the
 * order in which they came.
 */
export function signInTurns(
  sign: SignEvm,
  nextTurn: (callback: () => void) => void,
): (digests: readonly Uint8Array[], key: Uint8Array) => EvmSignature[] | Promise<EvmSignature[]> {
  const waiting: Waiting[] = [];

  function goOn(): void {
    const first = waiting[0]!;
    const { digests, key, signatures } = first;
    try {
      signatures.push(...sign(digests.slice(signatures.length, signatures.length + AT_ONCE_MAX), key));
      if (signatures.length === digests.length) waiting.shift()!.resolve(signatures);
    } catch (error) {
      waiting.shift()!.reject(error);
    }
    if (waiting.length > 0) nextTurn(goOn);
  }

  return (digests, key) => {
    if (digests.length <= AT_ONCE_MAX && waiting.length === 0) return sign(digests, key);
    return new Promise((resolve, reject) => {
      if (waiting.push({ digests, key, signatures: [], resolve, reject }) === 1) nextTurn(goOn);
    });
  };
}
