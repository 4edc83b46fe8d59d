import { createClient, parseDecimalPrice } from 'tickseal/client';
import { settings } from './required_settings.js';

// Prints a line and ends with exit code 2 when a price is stale, or has moved by more than a percentage since the start.
//   node price_alert.js BTCUSD 1.5 30

const { TICKSEAL_URL = 'http://127.0.0.1:8080' } = process.env;
const { TICKSEAL_TOKEN, SIGNER } = settings('TICKSEAL_TOKEN', 'SIGNER');
const [symbol = 'BTCUSD', percent = '1', staleSeconds = '30'] = process.argv.slice(2);
const limit = parseDecimalPrice(percent);
if (limit === undefined) throw new RangeError(`${percent} is not a number of percent`);

const client = createClient({ urls: TICKSEAL_URL, token: TICKSEAL_TOKEN, signers: [SIGNER] });
client.on('error', (error) => console.error(error.message));
const alert = (text: string) => {
  console.log(`${symbol} ${text}`);
  process.exitCode = 2;
  void client.close();
};
const stale = setTimeout(
  () => alert(`is stale: no price for ${staleSeconds} s`),
  Number(staleSeconds) * 1000,
);

let first: bigint | undefined;
// A fixed channel sends every live price, also a price that did not change.
for await (const tick of client.stream([symbol], { channel: '500ms' })) {
  stale.refresh();
  if (first === undefined) console.log(`${symbol} starts at ${tick.decimal}`);
  first ??= tick.price;
  const change = tick.price > first ? tick.price - first : first - tick.price;
  // Both sides contain the factor 10^18 twice, because the percentage is parsed like a price.
  if (change * 100n * 10n ** 18n > limit * first) alert(`moved by more than ${percent} %: ${tick.decimal}`);
}
clearTimeout(stale);
