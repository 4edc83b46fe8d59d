import { createClient } from 'tickseal/client';
import { settings } from './required_settings.js';

// Draws the candles of the last minutes as text. Each candle is a line: a thin line from low to high, and a bar from open to
// close.
//   node history_chart.js BTCUSD 20

const { TICKSEAL_URL = 'http://127.0.0.1:8080' } = process.env;
const { TICKSEAL_TOKEN, SIGNER } = settings('TICKSEAL_TOKEN', 'SIGNER');
const [symbol = 'BTCUSD', minutes = '20'] = process.argv.slice(2);
const WIDTH = 40;

await using client = createClient({ urls: TICKSEAL_URL, token: TICKSEAL_TOKEN, signers: [SIGNER] });
const to = Math.floor(Date.now() / 1000) + 1;
const candles = await client.candles(symbol, { resolution: '1', from: to - Number(minutes) * 60, to });
if (candles.length === 0) console.log(`${symbol} had no price in the last ${minutes} minutes`);

const lowest = Math.min(...candles.map(({ low }) => low));
const highest = Math.max(...candles.map(({ high }) => high));
const columnOf = (price: number) =>
  highest === lowest ? 0 : Math.round(((price - lowest) / (highest - lowest)) * (WIDTH - 1));

for (const { time, open, high, low, close } of candles) {
  const [left, right] = [Math.min(open, close), Math.max(open, close)].map(columnOf) as [number, number];
  const cells = Array.from({ length: WIDTH }, (_, column) => {
    if (column >= left && column <= right) return close >= open ? '█' : '▒';
    return column >= columnOf(low) && column <= columnOf(high) ? '─' : ' ';
  });
  console.log(new Date(time * 1000).toISOString().slice(11, 16), cells.join(''), close);
}
