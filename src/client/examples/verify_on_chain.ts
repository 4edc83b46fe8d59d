import { readFileSync } from 'node:fs';
import { createEVM } from '@ethereumjs/evm';
import { createClient, formatDecimalPrice, Subscriber } from 'tickseal/client';
import { WebSocket } from 'ws';
import { settings } from './required_settings.js';

// Reads a signed payload and passes it to the Solidity verifier, which runs in an EVM inside this process.
//   solc --bin --optimize … TicksealVerifier.sol && node verify_on_chain.js BTCUSD TicksealVerifier.bin

const { TICKSEAL_URL = 'http://127.0.0.1:8080' } = process.env;
const { TICKSEAL_TOKEN, SIGNER } = settings('TICKSEAL_TOKEN', 'SIGNER');
const [symbol = 'BTCUSD', bytecodeFile = 'TicksealVerifier.bin'] = process.argv.slice(2);
const word = (value: bigint | number | string) => BigInt(value).toString(16).padStart(64, '0');

const client = createClient({ urls: TICKSEAL_URL, token: TICKSEAL_TOKEN, signers: [SIGNER] });
const { taxonomyId, assets } = await client.taxonomy();
const { id } = assets.find((asset) => asset.symbol === symbol)!;
const payload = await new Promise<string>((resolve) => {
  const subscriber = new Subscriber({
    url: TICKSEAL_URL.replace('http', 'ws'),
    token: TICKSEAL_TOKEN,
    messageType: 'signed_ecdsa',
    openSocket: (url, headers) =>
      new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: 2 ** 23 }),
    onFrame(frame) {
      if ('payload' in frame) void subscriber.close().then(() => resolve(frame.payload.slice(2)));
    },
  });
  void subscriber.subscribe([id]);
});
// The constructor's arguments: taxonomy, largest age and lead in seconds, signers. The block of this EVM has a time in 1970.
const deployment = [taxonomyId, 60, 4_000_000_000, 128, 1, SIGNER].map(word).join('');
const code = Buffer.from(readFileSync(bytecodeFile, 'utf8').trim() + deployment, 'hex');
const evm = await createEVM();
const { createdAddress: to } = await evm.runCall({ data: code, gasLimit: 30_000_000n });
// The arguments of priceOf(bytes,uint16): the offset of the bytes, the streaming ID, their length, and the padded bytes.
const bytes = payload.padEnd(Math.ceil(payload.length / 64) * 64, '0');
const data = Buffer.from(`d8210f05${word(64)}${word(id)}${word(payload.length / 2)}${bytes}`, 'hex');
const { execResult } = await evm.runCall({ to: to!, data, gasLimit: 1_000_000n });
if (execResult.exceptionError) throw new Error(`the verifier refuses it: ${execResult.exceptionError.error}`);
const price = BigInt.asIntN(256, BigInt(`0x${Buffer.from(execResult.returnValue).toString('hex', 64, 96)}`));
console.log(`${symbol} ${formatDecimalPrice(price)} verified on chain, ${execResult.executionGasUsed} gas`);
