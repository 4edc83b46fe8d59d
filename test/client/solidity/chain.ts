import { createEVM, type EVM, type PrecompileInput } from '@ethereumjs/evm';
import { type Address, createAddressFromString, createZeroAddress, hexToBytes } from '@ethereumjs/util';
import {
  type Abi,
  decodeErrorResult,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
} from 'viem';
import { toHex } from '../../../src/model/hex.js';
import type { Built } from './build.js';

// A chain for tests of contracts: an EVM, and the time of its block.

const OWNER = `0x${'11'.repeat(20)}`;

/** The gas limit. All calls in these tests use less. */
const GAS_LIMIT = 30_000_000n;
/** The cost of a transaction, in addition to its execution. */
const TRANSACTION_GAS = 21_000;
const ZERO_BYTE_GAS = 4;
const BYTE_GAS = 16;
const PRECOMPILES = Array.from({ length: 9 }, (_, i) => `0x${(i + 1).toString(16).padStart(40, '0')}`);

/** The gas of a call, before refunds. All storage and all addresses are cold, as at the beginning of a transaction. */
interface UsedGas {
  readonly executionGas: number;
  readonly transactionGas: number;
}

/** The raw result of a call. */
export interface Executed extends UsedGas {
  readonly ok: boolean;
  readonly returned: Uint8Array;
  readonly created: string | undefined;
}

export type Hex = `0x${string}`;

/** The result of a call of a function. */
export type Result =
  | ({ readonly ok: true; readonly value: unknown } & UsedGas)
  /** The name of the error with which the call reverted, and its arguments. */
  | { readonly ok: false; readonly error: string; readonly args: readonly unknown[] };

/** A precompiled contract that replaces the one of the EVM. */
export interface Precompile {
  readonly address: Address;
  readonly function: (input: PrecompileInput) => { executionGasUsed: bigint; returnValue: Uint8Array };
}

export class Chain {
  readonly #evm: EVM;
  /** The time of the block, in seconds. */
  timeS = 0n;
  number = 1n;

  private constructor(evm: EVM) {
    this.#evm = evm;
  }

  static async create(customPrecompiles: Precompile[] = []): Promise<Chain> {
    return new Chain(await createEVM({ customPrecompiles }));
  }

  /** Runs a call, or the creation of a contract if `to` is missing. Errors of the contract are in the result. */
  async execute(data: Uint8Array, to?: string, from = OWNER): Promise<Executed> {
    await this.#beginTransaction();
    const { createdAddress, execResult } = await this.#evm.runCall({
      ...(to !== undefined && { to: createAddressFromString(to) }),
      caller: createAddressFromString(from),
      data,
      gasLimit: GAS_LIMIT,
      block: { header: blockHeader(this.number, this.timeS) } as never,
    });
    const calldataGas = data.reduce((sum, byte) => sum + (byte === 0 ? ZERO_BYTE_GAS : BYTE_GAS), 0);
    const executionGas = Number(execResult.executionGasUsed);
    return {
      ok: execResult.exceptionError === undefined,
      returned: execResult.returnValue,
      executionGas,
      transactionGas: TRANSACTION_GAS + calldataGas + executionGas,
      created: createdAddress?.toString(),
    };
  }

  /** Makes all storage cold, as at the beginning of a transaction. The EVM itself does so only between transactions of blocks. */
  async #beginTransaction(): Promise<void> {
    await this.#evm.journal.cleanup();
    this.#evm.stateManager.originalStorageCache.clear();
    for (const address of PRECOMPILES) this.#evm.journal.addAlwaysWarmAddress(address);
  }

  /** Deploys a contract. @throws Error if its constructor reverts, with the error's name */
  async deploy(built: Built, args: readonly unknown[] = [], from = OWNER): Promise<Deployed> {
    const data = encodeDeployData({ abi: built.abi, bytecode: built.bytecode, args });
    const executed = await this.execute(hexToBytes(data), undefined, from);
    if (!executed.ok) throw new Error(`the constructor reverts with ${errorOf(built.abi, executed).error}`);
    return new Deployed(this, built.abi, executed.created!);
  }

  /** Keeps the state, for {@link revert}. */
  checkpoint(): Promise<void> {
    return this.#evm.stateManager.checkpoint();
  }

  revert(): Promise<void> {
    return this.#evm.stateManager.revert();
  }
}

/** A contract on a chain, with the functions of its ABI. */
export class Deployed {
  constructor(
    readonly chain: Chain,
    readonly abi: Abi,
    readonly address: string,
  ) {}

  /** Calls a function. Changes of the state stay. */
  async call(functionName: string, args: readonly unknown[] = [], from = OWNER): Promise<Result> {
    const executed = await this.chain.execute(
      hexToBytes(this.encode(functionName, args)),
      this.address,
      from,
    );
    if (!executed.ok) return errorOf(this.abi, executed);
    const data = toHex(executed.returned) as Hex;
    const value = decodeFunctionResult({ abi: this.abi, functionName, data });
    return { ok: true, value, executionGas: executed.executionGas, transactionGas: executed.transactionGas };
  }

  /** Calls a function and returns its value. @throws Error if it reverts */
  async read<T>(functionName: string, ...args: readonly unknown[]): Promise<T> {
    const result = await this.call(functionName, args);
    if (!result.ok)
      throw new Error(`${functionName} reverts with ${result.error}(${result.args.join(', ')})`);
    return result.value as T;
  }

  encode(functionName: string, args: readonly unknown[]): Hex {
    return encodeFunctionData({ abi: this.abi, functionName, args });
  }
}

function errorOf(abi: Abi, { returned }: Executed) {
  const data = toHex(returned) as Hex;
  if (data === '0x') return { ok: false, error: 'nothing', args: [] } as const;
  try {
    const { errorName, args } = decodeErrorResult({ abi, data });
    return { ok: false, error: errorName, args: args ?? [] } as const;
  } catch {
    return { ok: false, error: data.slice(0, 10), args: [] } as const;
  }
}

function blockHeader(number: bigint, timestamp: bigint) {
  return {
    number,
    coinbase: createZeroAddress(),
    timestamp,
    difficulty: 0n,
    prevRandao: new Uint8Array(32),
    gasLimit: GAS_LIMIT,
    baseFeePerGas: 0n,
    getBlobGasPrice: () => 0n,
  };
}
