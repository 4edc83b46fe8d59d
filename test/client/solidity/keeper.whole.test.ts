import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { hexToBytes } from '@ethereumjs/util';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Test, test } from 'tap';
import { type Hex, parseTransaction } from 'viem';
import { eventually } from '../../../scripts/load/wait.js';
import { toHex } from '../../../src/model/hex.js';
import { serve } from '../../local_server.js';
import { Feed, units } from '../../service/feed.js';
import { startTestService } from '../../service/harness.js';
import { startExample } from '../examples/example.js';
import { Chain } from './chain.js';
import { NATIVE_ECRECOVER } from './native_ecrecover.js';
import { NO_TERMS, readerCode, TAXONOMY_ID } from './reader.js';

// Tests of the keeper: a service whose price moves, and a node that executes each transaction at once.

const KEEPER_KEY = `0x${'5a'.repeat(32)}`;
const [CHAIN_ID, TIP, BASE_FEE] = [31_337n, 1_000_000_000n, 7n];

async function openMarket(t: Test) {
  const service = await startTestService(t, { service: { taxonomy_id: TAXONOMY_ID } });
  const feed = await Feed.open(service);
  let price = 1_000;
  const move = async () => {
    price += 10;
    await feed.accept({ symbol: 'BTCUSD', price: units(price) });
  };
  await move();
  const moving = setInterval(() => void move(), 200);
  t.teardown(() => clearInterval(moving));
  const chain = await Chain.create([NATIVE_ECRECOVER]);
  chain.timeS = BigInt(Math.floor(Date.now() / 1000));
  const reader = await chain.deploy(readerCode, [TAXONOMY_ID, 60n, 30n, [service.evmAddress], NO_TERMS]);
  const node = await startNode(t, chain);
  const startKeeper = (env = {}) =>
    startExample(t, service, 'keeper', ['BTCUSD:0.1:60'], {
      RPC_URL: node.url,
      READER: reader.address,
      KEEPER_KEY,
      CHANNEL: '50ms',
      TICK_MS: '20',
      STATE: join(t.testdir(), 'keeper.spent'),
      ...env,
    });
  const roundOf = () => node.inTurn(async () => (await reader.read<{ round: number }>('latestOf', 1)).round);
  return { node, roundOf, startKeeper };
}

/** Starts a node of a chain with one account: JSON-RPC over HTTP. */
async function startNode(t: Test, chain: Chain) {
  let last: Promise<unknown> = Promise.resolve();
  /** Runs work on the chain after all earlier work, because an EVM runs one call at a time. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
  const call = async ({ to, data }: { to: string; data: Hex }) => {
    await chain.checkpoint();
    const { ok, returned } = await chain.execute(hexToBytes(data), to);
    await chain.revert();
    if (ok) return toHex(returned);
    throw Object.assign(new Error('execution reverted'), { code: 3, data: toHex(returned) });
  };
  const receive = async (raw: `0x02${string}`) => {
    const { data = '0x', to } = parseTransaction(raw);
    const { ok } = await chain.execute(hexToBytes(data), to as string);
    node[ok ? 'stored' : 'vain'] += 1;
    return toHex(keccak_256(hexToBytes(raw)));
  };
  const answer = async (method: string, first: unknown): Promise<unknown> => {
    chain.timeS = BigInt(Math.floor(Date.now() / 1000));
    if (method === 'eth_chainId') return hexOf(CHAIN_ID);
    if (method === 'eth_maxPriorityFeePerGas') return hexOf(TIP);
    if (method === 'eth_getTransactionCount') return hexOf(BigInt(node.stored + node.vain));
    if (method === 'eth_call') return call(first as Parameters<typeof call>[0]);
    if (method === 'eth_sendRawTransaction') return receive(first as `0x02${string}`);
    if (method !== 'eth_getBlockByNumber') throw new Error(`the method ${method} does not exist`);
    const [number, timestamp, baseFeePerGas] = [chain.number, chain.timeS, BASE_FEE].map(hexOf);
    return { number, timestamp, baseFeePerGas, transactions: [] };
  };
  const url = await serve(t, async (request, response) => {
    const { id, method, params = [] } = JSON.parse(await text(request));
    const result = await inTurn(() => answer(method, params[0])).then(
      (result) => ({ result }),
      ({ code = -32_000, message, data }) => ({ error: { code, message, data } }),
    );
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...result }));
  });
  const node = { url, stored: 0, vain: 0, inTurn };
  return node;
}

function hexOf(value: bigint): Hex {
  return `0x${value.toString(16)}`;
}

test('the keeper stores prices that move, also after a kill', async (t) => {
  const { node, roundOf, startKeeper } = await openMarket(t);
  for (const stored of [3, 6]) {
    const keeper = startKeeper();
    await eventually(() => node.stored >= stored);
    await keeper.end();
  }
  t.equal(await roundOf(), node.stored, 'each transaction stored a newer price');
  t.ok(node.vain <= 1, `${node.vain} transactions in vain after a kill`);
});

test('the keeper sends nothing above its caps', async (t) => {
  const { node, startKeeper } = await openMarket(t);
  const capped = startKeeper({ FEE_CAP_GWEI: '0.5' });
  await capped.printed(/not sent: a fee of 1000000014 wei/);
  await capped.end();
  t.equal(node.stored, 0);
  const day = startKeeper({ DAY_CAP_ETH: '0.0006' });
  await day.printed(/not sent: a fee of \d+ wei, \d+ wei today/);
  await day.end();
  t.ok(node.stored >= 1 && node.stored <= 4, `${node.stored} transactions below the cap of a day`);
});
