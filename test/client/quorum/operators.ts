import { checksumAddress, evmAddress } from '../../../src/client/verify/evm_signatures.js';
import { type ContractServer, startContractServer, TOKEN } from '../contract_server.js';
import { bodyOf, signed } from '../signed_payload.js';

/** An operator of a test: a service over real sockets, with its own key, taxonomy and streaming IDs. */
export interface TestOperator {
  readonly options: { name: string; urls: string; signers: string[]; token: string };
  readonly server: ContractServer;
  /** Starts a second service of the operator. */
  readonly startSecond: () => Promise<ContractServer>;
  /** Sends a signed frame. @param madeMs the time of the frame, in UNIX milliseconds @returns the text of the frame */
  send(symbol: string, price: bigint, madeMs?: number): string;
  /** Returns a signed frame, without sending it. */
  frame(symbol: string, price: bigint, madeMs: number): string;
}

const SYMBOLS = ['BTCUSD', 'ETHUSD'];

/** @param n the number of the operator, which determines its key and its streaming IDs */
export async function startOperator(n: number, symbols = SYMBOLS): Promise<TestOperator> {
  const secretKey = new Uint8Array(32).fill(n + 1);
  const taxonomyId = 10 + n;
  const assets = symbols.map((name, i) => ({ asset_id: 100 * (n + 1) - i, name, signature_type: 'evm' }));
  const taxonomy = { taxonomy_id: taxonomyId, assets };
  const server = await startContractServer(taxonomy, secretKey);
  const signers = [checksumAddress(evmAddress(secretKey))];
  const frame = (symbol: string, price: bigint, madeMs: number) => {
    const { asset_id } = assets.find(({ name }) => name === symbol)!;
    const timestampNs = BigInt(madeMs) * 1_000_000n;
    const body = bodyOf({ taxonomyId, timestampNs, assets: [[asset_id, price, 1]] }, false);
    return JSON.stringify({ type: 'signed_ecdsa', p: signed(body, secretKey) });
  };
  return {
    options: { name: 'abc'[n]!, urls: server.url, signers, token: TOKEN },
    server,
    startSecond: () => startContractServer(taxonomy, secretKey),
    send(symbol, price, madeMs = Date.now()) {
      const text = frame(symbol, price, madeMs);
      server.broadcast(text);
      return text;
    },
    frame,
  };
}
