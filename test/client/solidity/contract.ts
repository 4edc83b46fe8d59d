import { hexToBytes } from '@ethereumjs/util';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { toHex } from '../../../src/model/hex.js';
import { build } from './build.js';
import { Chain, OWNER } from './chain.js';

// Contracts whose calls a test encodes itself, word by word.

/**
 * Returns the bytecode of a contract.
 * @param text the text of the contract's file, if the contract is not in the library
 * @throws Error with the compiler's messages, if any
 */
export function compile(contract: string, text?: string): string {
  return build(`${contract}.sol`, contract, text === undefined ? {} : { text }).bytecode.slice(2);
}

export type Outcome =
  | { readonly ok: true; readonly words: readonly bigint[]; readonly transactionGas: number }
  /** The first four bytes of the error with which the call reverted, in hex. */
  | { readonly ok: false; readonly error: string };

/** A contract, deployed on a new chain or on the chain of another contract. */
export class Contract {
  private constructor(
    readonly chain: Chain,
    readonly address: string,
  ) {}

  /** Deploys a contract. @returns the contract, or the selector of the error with which its constructor reverted */
  static async deploy(
    bytecode: string,
    constructorArguments: string,
    beside?: Contract,
  ): Promise<Contract | string> {
    const chain = beside?.chain ?? (await Chain.create());
    const { ok, created, returned } = await chain.execute(hexToBytes(`0x${bytecode}${constructorArguments}`));
    return ok ? new Contract(chain, created!) : toHex(returned.subarray(0, 4));
  }

  /** The time of the chain's block, in seconds. */
  get timeS(): bigint {
    return this.chain.timeS;
  }

  set timeS(timeS: bigint) {
    this.chain.timeS = timeS;
  }

  /**
   * Calls a function.
   * @param signature the signature, such as `verify(bytes)`
   * @param argumentsHex the ABI-encoded arguments, without 0x
   */
  async call(signature: string, argumentsHex: string, caller = OWNER): Promise<Outcome> {
    const data = hexToBytes(`${selector(signature)}${argumentsHex}` as `0x${string}`);
    const { ok, returned, transactionGas } = await this.chain.execute(data, this.address, caller);
    if (!ok) return { ok: false, error: toHex(returned.subarray(0, 4)) };
    const words = Array.from({ length: returned.length / 32 }, (_, i) =>
      BigInt(toHex(returned.subarray(i * 32, (i + 1) * 32))),
    );
    return { ok: true, words, transactionGas };
  }
}

/** Returns the first four bytes of the hash of a function's or an error's signature. */
export function selector(signature: string): string {
  return toHex(keccak_256(Buffer.from(signature)).subarray(0, 4));
}

/** Returns a 32-byte word of ABI encoding. */
export function word(value: bigint | number): string {
  return BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0');
}

/** Returns the ABI encoding of a `bytes` argument. The encoding begins after the other arguments, at a multiple of 32 bytes. */
export function bytesTail(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return word(bytes.length) + hex.padEnd(Math.ceil(hex.length / 64) * 64, '0');
}

/** Returns the ABI encoding of a list of dynamic values. */
export function listOf(tails: readonly string[]): string {
  let at = 32 * tails.length;
  const offsets = tails.map((tail) => {
    const offset = word(at);
    at += tail.length / 2;
    return offset;
  });
  return word(tails.length) + offsets.join('') + tails.join('');
}
