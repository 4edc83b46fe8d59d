import { createClient } from 'tickseal/client';
import { settings } from './required_settings.js';

// Reads a stream from several services of an operator. Ends when fewer services are connected than the quorum.
//   TICKSEAL_URLS=https://a.example.com,https://b.example.com node quorum_prices.js BTCUSD 2

const { TICKSEAL_URLS = 'http://127.0.0.1:8080' } = process.env;
const { TICKSEAL_TOKEN, SIGNER } = settings('TICKSEAL_TOKEN', 'SIGNER');
const urls = TICKSEAL_URLS.split(',');
const [symbol = 'BTCUSD', quorum = `${Math.floor(urls.length / 2) + 1}`] = process.argv.slice(2);

const client = createClient({ urls, token: TICKSEAL_TOKEN, signers: [SIGNER] });
const connected = new Set<string>();
let isReached = false;
client.on('state', ({ url, state, reason }) => {
  if (state === 'open') connected.add(url);
  else connected.delete(url);
  console.log(`${url} is ${state}${reason && ` (${reason})`}: ${connected.size} of ${urls.length} services`);
  isReached ||= connected.size >= Number(quorum);
  if (!isReached || connected.size >= Number(quorum)) return;
  console.log(`below the quorum of ${quorum}`);
  process.exitCode = 1;
  void client.close();
});

// The client merges all services into a single sequence. The client uses each price from the first service that sends it, and
// timestamps only increase.
for await (const tick of client.stream([symbol], { channel: '500ms' })) {
  if (isReached) console.log(tick.symbol, tick.decimal, 'from', tick.url);
}
