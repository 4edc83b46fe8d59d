import { createStreamClient } from 'tickseal/client';

// Shows a verified price on a web page. The page's origin must be listed in the service's `listen.allowed_origins`.
//   browser_page.html#url=https://prices.example.com&token=…&signer=0x…&symbol=BTCUSD

// A project whose `lib` contains DOM has these declarations already.
declare const document: { querySelector(selector: string): { textContent: string } };
declare const location: { readonly hash: string };

const parameters = new URLSearchParams(location.hash.slice(1));
const place = document.querySelector('#price');

const client = createStreamClient({
  urls: parameters.get('url') ?? '',
  token: parameters.get('token') ?? '',
  signers: [parameters.get('signer') ?? ''],
});
client.on('state', ({ state, reason }) => {
  if (state !== 'open') place.textContent = `${state}: ${reason}`;
});
client.on('error', ({ message }) => {
  place.textContent = message;
});
for await (const tick of client.stream([parameters.get('symbol') ?? 'BTCUSD'], { channel: '500ms' })) {
  place.textContent = `${tick.symbol} ${tick.decimal} ${tick.verdict}`;
}
