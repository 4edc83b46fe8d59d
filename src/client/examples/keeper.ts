import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createClient, Subscriber, verifyPayload } from 'tickseal/client';
import { createPublicClient, encodeFunctionData, type Hex, http, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { WebSocket } from 'ws';
import { settings } from './required_settings.js';

// Keeps the prices of a TicksealReader fresh: by deviation, and by a heartbeat.
//   READER=0x… RPC_URL=http://… KEEPER_KEY=0x… node keeper.js [BTCUSD:0.5:3600 …]     symbol:deviation in percent:heartbeat in seconds
// Without arguments, the pushed assets of DEPLOYMENT=network/environment in the service's configuration count. It may be killed at
// any time and run twice: the contract refuses what is not newer, so a second transaction can only be paid in vain.

const { TICKSEAL_TOKEN, SIGNER, RPC_URL } = settings('TICKSEAL_TOKEN', 'SIGNER', 'RPC_URL');
const { READER, KEEPER_KEY } = settings('READER', 'KEEPER_KEY') as Record<string, Hex>;
const { TICKSEAL_URL = 'http://127.0.0.1:8080', DEPLOYMENT = '', STATE = 'keeper.spent' } = process.env;
const { CHANNEL = '500ms', ATTRIBUTES } = process.env as { CHANNEL?: '500ms'; ATTRIBUTES?: string };
const number = (name: string, value: number) => Number(process.env[name] ?? value);
/** The shortest time between two blocks of the chain: a payload may be dated so much after the newest block. */
const BLOCK_S = number('BLOCK_S', 1);
/** The time after which a transaction that has not arrived is replaced, with a newer payload and a higher fee. */
const STUCK_MS = number('STUCK_MS', 30_000);
/** The largest fee of a unit of gas, and the largest spend a day, which counts the gas limit of each transaction. */
const FEE_CAP = BigInt(Math.round(number('FEE_CAP_GWEI', 50) * 1e9));
const DAY_CAP = BigInt(Math.round(number('DAY_CAP_ETH', 0.1) * 1e18));
const NS_PER_S = 1_000_000_000n;
const abi = parseAbi([
  'function latestOf(uint16) view returns ((int128 value, uint64 timestampNs, uint32 round, uint32 spreadPpm, uint8 status, uint8 n))',
  'function updateSome(bytes payload, uint16[] assetIds)',
  'error AheadOfBlock(uint64 timestampNs)',
  'error Refused(uint16 assetId, uint8 why)',
]);
const LATEST = { address: READER!, abi, functionName: 'latestOf' } as const;
const UPDATE = { address: READER!, abi, functionName: 'updateSome' } as const;
type Pushed = Record<string, { delta: number; staleness: number }>;
type Dated = { hex: Hex; timestampNs: bigint; values: ReadonlyMap<number, bigint> };
type Stored = { value: bigint; timestampNs: bigint; round: number };

const account = privateKeyToAccount(KEEPER_KEY!);
const chain = createPublicClient({ transport: http(RPC_URL, { timeout: 3_000 }) });
const client = createClient({ urls: TICKSEAL_URL, token: TICKSEAL_TOKEN, signers: [SIGNER] });
const { assets } = await client.taxonomy();
const watched = Object.entries(await wanted()).map(([symbol, { delta, staleness }]) => {
  const asset = assets.find((one) => one.symbol === symbol);
  if (asset === undefined) throw new Error(`the service has no asset ${symbol}`);
  return { id: asset.id, ppm: BigInt(Math.round(delta * 1e4)), heartbeatNs: BigInt(staleness) * NS_PER_S };
});
const chainId = await chain.getChainId();
const payloads: Dated[] = [];
const subscriber = new Subscriber({
  url: TICKSEAL_URL.replace('http', 'ws'),
  token: TICKSEAL_TOKEN,
  channel: CHANNEL,
  messageType: 'signed_ecdsa',
  addtlAttrs: ATTRIBUTES?.split(',') ?? [],
  openSocket: (url, headers) =>
    new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: 2 ** 23 }),
  onFrame(frame) {
    if (!('payload' in frame)) return;
    const report = verifyPayload(frame.payload, { signers: [SIGNER] });
    if (report.verdict !== 'verified') throw new Error('the named signer did not sign a payload');
    const { timestampNs, assets } = report.payload;
    const values = new Map(assets.map(({ id, value }) => [id, value]));
    payloads.push({ hex: frame.payload as Hex, timestampNs, values });
    payloads.splice(0, payloads.length - 256);
  },
});
void subscriber.subscribe(watched.map(({ id }) => id));

/** The transaction on its way. There is one at a time, so its nonce is the next one. */
let sent: { due: readonly number[]; timestampNs: bigint; atMs: number; fee: bigint } | undefined;
let nonce = Number.POSITIVE_INFINITY;
for (;;) {
  await step().catch((error: Error) => console.error(`${error.name}: ${error.message.split('\n')[0]}`));
  await new Promise((resolve) => setTimeout(resolve, number('TICK_MS', 250)));
}

async function step(): Promise<void> {
  const head = await chain.getBlock();
  const reads = watched.map(({ id }) => chain.readContract({ ...LATEST, args: [id] }));
  const stored = new Map((await Promise.all(reads)).map((price, i) => [watched[i]!.id, price]));
  // Only the contract says whether a transaction arrived: answers of nodes about nonces and receipts are late or wrong.
  const { due: awaited, timestampNs = 0n } = sent ?? {};
  if (awaited?.every((id) => stored.get(id)!.timestampNs >= timestampNs))
    [sent, nonce] = [undefined, nonce + 1];
  if (sent !== undefined && Date.now() - sent.atMs < STUCK_MS) return;
  const endNs = (head.timestamp + BigInt(BLOCK_S) + 1n) * NS_PER_S;
  const payload = payloads.findLast((one) => one.timestampNs < endNs);
  if (payload === undefined) return;
  const due = watched.filter((asset) => isDue(asset, stored.get(asset.id)!, payload)).map(({ id }) => id);
  // A stuck transaction is replaced even if its price has come back: else it blocks the nonce.
  if (due.length > 0) await send(payload, due, head.baseFeePerGas ?? 0n);
  else if (sent !== undefined) await send(payload, sent.due, head.baseFeePerGas ?? 0n);
}

/** An eighth of the heartbeat is left for the transaction. */
function isDue({ id, ppm, heartbeatNs }: (typeof watched)[0], stored: Stored, payload: Dated): boolean {
  const next = payload.values.get(id);
  const ageNs = payload.timestampNs - stored.timestampNs;
  if (next === undefined || ageNs <= 0n) return false;
  const change = next > stored.value ? next - stored.value : stored.value - next;
  const isMoved = change * 1_000_000n >= ppm * (stored.value < 0n ? -stored.value : stored.value);
  return stored.round === 0 || isMoved || ageNs * 8n >= heartbeatNs * 7n;
}

async function send(payload: Dated, due: readonly number[], baseFee: bigint): Promise<void> {
  const args = [payload.hex, due] as const;
  // The simulation runs in the newest block, which may be older than the payload. The next block is not.
  const simulated = chain.simulateContract({ ...UPDATE, account, args });
  await simulated.catch((error) => String(error).includes('AheadOfBlock') || Promise.reject(error));
  // A nonce that is too low is refused at once. One that is too high waits for others, so a stuck transaction makes it lower again.
  if (sent !== undefined || nonce === Number.POSITIVE_INFINITY)
    nonce = Math.min(nonce, await chain.getTransactionCount({ address: account.address }));
  const tip = await chain.estimateMaxPriorityFeePerGas();
  const fee = sent === undefined ? 2n * baseFee + tip : (sent.fee * 5n) / 4n + 1n;
  const gas = 100_000n + 45_000n * BigInt(due.length) + BigInt(payload.hex.length) * 10n;
  const day = Math.floor(Date.now() / 86_400_000);
  const [savedDay, savedWei = ''] = existsSync(STATE) ? readFileSync(STATE, 'utf8').split(' ') : [];
  const wei = BigInt(Number(savedDay) === day ? savedWei : 0) + gas * fee;
  if (fee > FEE_CAP || wei > DAY_CAP) throw new Error(`not sent: a fee of ${fee} wei, ${wei} wei today`);
  writeFileSync(`${STATE}.new`, `${day} ${wei}`);
  renameSync(`${STATE}.new`, STATE);
  const data = encodeFunctionData({ ...UPDATE, args });
  const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: tip < fee ? tip : fee };
  const transaction = { chainId, nonce, to: READER!, data, gas, ...fees };
  const serializedTransaction = await account.signTransaction(transaction);
  sent = { due, timestampNs: payload.timestampNs, atMs: Date.now(), fee };
  try {
    console.log(`${due} by ${await chain.sendRawTransaction({ serializedTransaction })}, nonce ${nonce}`);
  } catch (error) {
    // The nonce was used: by the transaction of a killed keeper, or by one whose arrival is not yet seen.
    if (/nonce.*too low/i.test(String(error))) [sent, nonce] = [undefined, nonce + 1];
    else if (/underpriced/i.test(String(error))) sent.atMs = 0;
    else throw error;
  }
}

/** Returns symbols with deviations and heartbeats, from the arguments or from the service's configuration. */
async function wanted(): Promise<Pushed> {
  const named = process.argv.slice(2).map((text) => text.split(':'));
  const entries = named.map(([symbol, delta, s]) => [symbol, { delta: Number(delta), staleness: Number(s) }]);
  if (entries.length > 0) return Object.fromEntries(entries);
  const headers = { Authorization: `Basic ${TICKSEAL_TOKEN}` };
  const answer = await fetch(`${TICKSEAL_URL}/v0/deployments/service_pushed_assets`, { headers });
  const { data } = (await answer.json()) as { data: Record<string, Record<string, Pushed>> };
  const [network = '', environment = ''] = DEPLOYMENT.split('/');
  const pushed = data[network]?.[environment];
  if (pushed === undefined) throw new Error(`DEPLOYMENT is none of ${JSON.stringify(data)}`);
  return pushed;
}
