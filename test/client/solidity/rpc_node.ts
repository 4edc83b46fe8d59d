import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hexToBytes } from '@ethereumjs/util';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Hex, parseTransaction, recoverTransactionAddress } from 'viem';
import { toHex } from '../../../src/model/hex.js';
import type { Chain } from './chain.js';

// A node of a chain, for tests of programs that send transactions: JSON-RPC over HTTP on a chain of tests. It mines a block at each
// interval, and misbehaves as often as it is told.

export interface NodeOptions {
  readonly blockMs: number;
  /** Returns a number from 0 to 1, from which the node decides how to misbehave. */
  readonly random: () => number;
  /** The share of requests without an answer. */
  readonly lost: number;
  /** The share of transactions that the node accepts and forgets. */
  readonly dropped: number;
  /** The share of wrong answers about a nonce. */
  readonly lies: number;
}

interface Pending {
  readonly nonce: number;
  readonly data: Hex;
  readonly to: string;
  readonly from: string;
  readonly gas: bigint;
  readonly fee: bigint;
}

const CHAIN_ID = 31_337;
const BASE_FEE = 7n;
const TIP = 1_000_000_000n;

export class RpcNode {
  readonly #chain: Chain;
  readonly #options: NodeOptions;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #nonces = new Map<string, number>();
  readonly #pool = new Map<string, Pending>();
  #interval: NodeJS.Timeout | undefined;
  #mining: Promise<void> = Promise.resolve();
  /** Mined transactions, and those of them that reverted. */
  mined = 0;
  vain = 0;
  /** The nonces that received transactions have, those of all accounts. A replacement has the nonce of another transaction. */
  readonly received = new Set<string>();
  /** Called after each block that has transactions. */
  onBlock: () => Promise<void> = async () => {};

  private constructor(chain: Chain, options: NodeOptions) {
    this.#chain = chain;
    this.#options = options;
  }

  static async start(chain: Chain, options: NodeOptions): Promise<RpcNode> {
    const node = new RpcNode(chain, options);
    await new Promise<void>((resolve) => node.#server.listen(0, '127.0.0.1', resolve));
    node.#interval = setInterval(() => {
      node.#mining = node.#inTurn(() => node.#mine());
    }, options.blockMs);
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    clearInterval(this.#interval);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#mining;
  }

  /** Runs work on the chain after all earlier work, because an EVM runs one call at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#mining.then(work);
    this.#mining = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  async #mine(): Promise<void> {
    this.#chain.timeS = BigInt(Math.floor(Date.now() / 1000));
    this.#chain.number += 1n;
    const before = this.mined;
    for (const from of new Set([...this.#pool.values()].map((pending) => pending.from))) {
      for (;;) {
        const nonce = this.#nonces.get(from) ?? 0;
        const next = this.#pool.get(`${from} ${nonce}`);
        if (next === undefined) break;
        this.#pool.delete(`${from} ${nonce}`);
        this.#nonces.set(from, nonce + 1);
        const { ok } = await this.#chain.execute(hexToBytes(next.data), next.to, from, next.gas);
        this.mined += 1;
        if (!ok) this.vain += 1;
      }
    }
    if (this.mined > before) await this.onBlock();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { random, lost } = this.#options;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { id, method, params = [] } = JSON.parse(Buffer.concat(parts).toString()) as Call;
    const answer = await this.#answer(method, params).then(
      (result) => ({ result }),
      ({ message, data }: RpcError) => ({
        error: { code: data === undefined ? -32_000 : 3, message, ...(data !== undefined && { data }) },
      }),
    );
    if (random() < lost) return void response.destroy();
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  }

  async #answer(method: string, [first]: readonly unknown[]): Promise<unknown> {
    if (method === 'eth_chainId') return hexOf(CHAIN_ID);
    if (method === 'eth_maxPriorityFeePerGas') return hexOf(TIP);
    if (method === 'eth_getBlockByNumber') return this.#block();
    if (method === 'eth_getTransactionCount') return hexOf(this.#count(first as string));
    if (method === 'eth_call') return this.#call(first as { to: string; data: Hex; from?: string });
    if (method === 'eth_sendRawTransaction') return this.#receive(first as Hex);
    throw new Error(`the method ${method} does not exist`);
  }

  #block() {
    const { number, timeS } = this.#chain;
    return {
      number: hexOf(number),
      timestamp: hexOf(timeS),
      baseFeePerGas: hexOf(BASE_FEE),
      transactions: [],
    };
  }

  #count(address: string): number {
    const { random, lies } = this.#options;
    const count = this.#nonces.get(address.toLowerCase()) ?? 0;
    return random() < lies ? Math.max(0, count + (random() < 0.5 ? -1 : 1)) : count;
  }

  async #call({ to, data, from }: { to: string; data: Hex; from?: string }): Promise<Hex> {
    return this.#inTurn(async () => {
      await this.#chain.checkpoint();
      const { ok, returned } = await this.#chain.execute(hexToBytes(data), to, from ?? undefined);
      await this.#chain.revert();
      if (ok) return toHex(returned) as Hex;
      throw Object.assign(new Error('execution reverted'), { data: toHex(returned) });
    });
  }

  async #receive(raw: Hex): Promise<Hex> {
    const { random, dropped } = this.#options;
    const transaction = parseTransaction(raw as `0x02${string}`);
    const from = (
      await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })
    ).toLowerCase();
    const { nonce = 0, data = '0x', to, gas = 0n, maxFeePerGas = 0n } = transaction;
    if (nonce < (this.#nonces.get(from) ?? 0)) throw new Error('nonce too low');
    const key = `${from} ${nonce}`;
    this.received.add(key);
    const other = this.#pool.get(key);
    if (other !== undefined && maxFeePerGas * 10n < other.fee * 11n)
      throw new Error('replacement transaction underpriced');
    const pending = { nonce, data, to: to as string, from, gas, fee: maxFeePerGas };
    if (random() >= dropped) this.#pool.set(key, pending);
    return toHex(keccak_256(hexToBytes(raw))) as Hex;
  }
}

interface RpcError extends Error {
  readonly data?: Hex;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

function hexOf(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}
