import { readFileSync } from 'node:fs';
import { createEVM, type EVM } from '@ethereumjs/evm';
import { type Address, createAddressFromString, hexToBytes } from '@ethereumjs/util';
import { keccak_256 } from '@noble/hashes/sha3.js';
import solc from 'solc';
import { toHex } from '../../../src/model/hex.js';

const SOURCES = new URL('../../../../src/client/solidity/', import.meta.url);
const FILES = [
  'TicksealAnnounced.sol',
  'TicksealAnnouncement.sol',
  'TicksealOwned.sol',
  'TicksealPayload.sol',
  'TicksealVerifier.sol',
  'TicksealQuorum.sol',
];
/** The version of the EVM. All existing chains know the instructions of this version. */
const EVM_VERSION = 'paris';
/** The gas limit. All calls in these tests use less. */
const GAS_LIMIT = 30_000_000n;
/** The cost of a transaction, in addition to its execution. */
const TRANSACTION_GAS = 21_000;
const ZERO_BYTE_GAS = 4;
const BYTE_GAS = 16;

export const OWNER = `0x${'11'.repeat(20)}`;

/**
 * Returns the bytecode of a contract.
 * @param ownSource the text of the contract's file, if the contract is not in the library
 * @throws Error with the compiler's messages, if any
 */
export function compile(contract: string, ownSource?: string): string {
  const sources = FILES.map((file) => [file, { content: readFileSync(new URL(file, SOURCES), 'utf8') }]);
  if (ownSource !== undefined) sources.push([`${contract}.sol`, { content: ownSource }]);
  const settings = {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: EVM_VERSION,
    outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
  };
  const input = { language: 'Solidity', sources: Object.fromEntries(sources), settings };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  const messages = (output.errors ?? []).map(
    ({ formattedMessage }: { formattedMessage: string }) => formattedMessage,
  );
  if (messages.length > 0) throw new Error(messages.join('\n'));
  return output.contracts[`${contract}.sol`][contract].evm.bytecode.object;
}

export type Outcome =
  | { readonly ok: true; readonly words: readonly bigint[]; readonly transactionGas: number }
  /** The first four bytes of the error with which the call reverted, in hex. */
  | { readonly ok: false; readonly error: string };

/** A contract, deployed on a new EVM or on the EVM of another contract. */
export class Contract {
  readonly #evm: EVM;
  readonly #address: Address;
  /** The time of the block, in seconds. */
  timeS = 0n;

  private constructor(evm: EVM, address: Address) {
    this.#evm = evm;
    this.#address = address;
  }

  /** Deploys a contract. @returns the contract, or the selector of the error with which its constructor reverted */
  static async deploy(
    bytecode: string,
    constructorArguments: string,
    beside?: Contract,
  ): Promise<Contract | string> {
    const evm = beside === undefined ? await createEVM() : beside.#evm;
    const { createdAddress, execResult } = await evm.runCall({
      data: hexToBytes(`0x${bytecode}${constructorArguments}`),
      caller: createAddressFromString(OWNER),
      gasLimit: GAS_LIMIT,
    });
    return execResult.exceptionError === undefined
      ? new Contract(evm, createdAddress!)
      : toHex(execResult.returnValue.subarray(0, 4));
  }

  get address(): string {
    return this.#address.toString();
  }

  /**
   * Calls a function.
   * @param signature the signature, such as `verify(bytes)`
   * @param argumentsHex the ABI-encoded arguments, without 0x
   */
  async call(signature: string, argumentsHex: string, caller = OWNER): Promise<Outcome> {
    const data = hexToBytes(`${selector(signature)}${argumentsHex}` as `0x${string}`);
    const { execResult } = await this.#evm.runCall({
      to: this.#address,
      caller: createAddressFromString(caller),
      data,
      gasLimit: GAS_LIMIT,
      block: { header: blockHeader(this.timeS) } as never,
    });
    const { returnValue, exceptionError, executionGasUsed } = execResult;
    if (exceptionError !== undefined) return { ok: false, error: toHex(returnValue.subarray(0, 4)) };
    const calldataGas = data.reduce((sum, byte) => sum + (byte === 0 ? ZERO_BYTE_GAS : BYTE_GAS), 0);
    const words = Array.from({ length: returnValue.length / 32 }, (_, i) =>
      BigInt(toHex(returnValue.subarray(i * 32, (i + 1) * 32))),
    );
    return { ok: true, words, transactionGas: TRANSACTION_GAS + calldataGas + Number(executionGasUsed) };
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

function blockHeader(timestamp: bigint) {
  const zero = createAddressFromString(`0x${'00'.repeat(20)}`);
  return {
    number: 1n,
    coinbase: zero,
    timestamp,
    difficulty: 0n,
    prevRandao: new Uint8Array(32),
    gasLimit: GAS_LIMIT,
    baseFeePerGas: 0n,
    getBlobGasPrice: () => 0n,
  };
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
