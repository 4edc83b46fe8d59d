import { parseHexInteger } from './bytes.js';
import { type RecoverAddress, recoverAddress } from './evm_signatures.js';
import { keyFault } from './key_form.js';

/** The result of one check of a verification. */
export interface Check {
  /** The name, such as `publisher_merkle_root`. */
  readonly name: string;
  /** The outcome. `skipped`: the caller did not give a value that the check needs. */
  readonly status: 'ok' | 'failed' | 'skipped';
  /** The fault of a failed check, or the value that a skipped check lacks. */
  readonly reason?: string;
}

/**
 * The keys whose signatures are accepted: EVM addresses and Stark public keys (their x coordinates) in `0x` hex, at least
 * one. With `'unchecked'` any key is accepted. Then nothing is verified, because anybody can make a key and sign with it.
 */
export type Signers = readonly string[] | 'unchecked';

/**
 * Signers that never change, or a function that returns the current signers. For an aggregate the function receives the time at
 * which the service signed it, in UNIX nanoseconds; for a payload of a stream the function receives no argument.
 */
export type SignerSource = Signers | ((signedNs?: bigint) => Signers);

/** @param signedNs the signed time of an aggregate */
export function signersOf(source: SignerSource, signedNs?: bigint): Signers {
  return typeof source === 'function' ? source(signedNs) : source;
}

/**
 * The verdict of a verification. `verified`: no check failed, and a named signer signed. `recovered`: no check failed, but no signer
 * was named, so the signature proves nothing. `failed`: a check failed.
 */
export type Verdict<S extends Signers> = PassedVerdict<S> | 'failed';

/** The verdict when no check failed. */
export type PassedVerdict<S extends Signers> = S extends 'unchecked' ? 'recovered' : 'verified';

/** The checks of a verification, in the order in which they were made. */
export class CheckList<S extends Signers> {
  readonly checks: Check[] = [];
  readonly #signers: S;

  /** Recovers the signers of EVM signatures. */
  readonly recover: RecoverAddress;

  constructor(signers: S, recover: RecoverAddress = recoverAddress) {
    this.#signers = signers;
    this.recover = recover;
  }

  get verdict(): Verdict<S> {
    return this.passedVerdict ?? 'failed';
  }

  /** The verdict if all checks passed; `undefined` when a check failed. */
  get passedVerdict(): PassedVerdict<S> | undefined {
    if (this.checks.some(({ status }) => status === 'failed')) return undefined;
    const verdict: 'recovered' | 'verified' = this.#signers === 'unchecked' ? 'recovered' : 'verified';
    return verdict as PassedVerdict<S>;
  }

  /** Records a check and returns `holds`. The reason is recorded only when `holds` is false. */
  expect(name: string, holds: boolean, reason: string): boolean {
    this.checks.push(holds ? { name, status: 'ok' } : { name, status: 'failed', reason });
    return holds;
  }

  /** Checks that `key` is one of the signers' keys. If the check fails, its reason shows `keyText`. */
  expectSigner(name: string, key: bigint | undefined, keyText: string): void {
    const signers: Signers = this.#signers;
    if (signers === 'unchecked') {
      this.skip(name, 'no signer was named');
      return;
    }
    const isNamed = key !== undefined && signers.some((signer) => parseHexInteger(signer) === key);
    this.expect(name, isNamed, `signed by ${keyText}, not ${signers.join(' or ')}`);
  }

  skip(name: string, reason: string): void {
    this.checks.push({ name, status: 'skipped', reason });
  }
}

/** The lists that were checked. Each verification receives a list, and the checksum of an address needs a hash. */
const CHECKED = new WeakSet<readonly string[]>();

/**
 * @throws TypeError when `signers` is neither a list nor `'unchecked'`
 * @throws RangeError when the list is empty, or a signer is neither an EVM address, with a right checksum if it is in mixed case, nor a
 * Stark public key
 */
export function requireSigners(signers: Signers): void {
  if (signers === 'unchecked') return;
  if (!Array.isArray(signers)) throw new TypeError("signers must be a list of addresses, or 'unchecked'");
  if (CHECKED.has(signers)) return;
  if (signers.length === 0) throw new RangeError('signers must name at least one address');
  for (const signer of signers) {
    if (typeof signer !== 'string') throw new TypeError('signers must be texts');
    const fault = keyFault(signer);
    if (fault !== undefined) throw new RangeError(`signers: ${fault}`);
  }
  CHECKED.add(signers);
}
