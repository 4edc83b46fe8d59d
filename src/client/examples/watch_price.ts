import { createClient } from 'tickseal/client';
import { settings } from './required_settings.js';

// Watches a price, and prints each price after its signature was verified.
//   node watch_price.js BTCUSD 10

const { TICKSEAL_URL = 'http://127.0.0.1:8080' } = process.env;
const { TICKSEAL_TOKEN, SIGNER } = settings('TICKSEAL_TOKEN', 'SIGNER');
const [symbol = 'BTCUSD', count = '10'] = process.argv.slice(2);

const client = createClient({ urls: TICKSEAL_URL, token: TICKSEAL_TOKEN, signers: [SIGNER] });
client.on('error', (error) => console.error(error.message));

let left = Number(count);
for await (const tick of client.stream([symbol], { channel: '100ms' })) {
  console.log(tick.symbol, tick.decimal, tick.verdict, tick.signer, `${tick.ageMs} ms old`);
  left -= 1;
  if (left === 0) break;
}
await client.close();
