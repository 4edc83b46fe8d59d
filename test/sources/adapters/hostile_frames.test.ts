import fc from 'fast-check';
import { test } from 'tap';
import { MARKETS } from '../../../src/sources/adapters/built_in.js';
import { topOf } from '../../../src/sources/market_quote.js';
import { cases } from '../../tier.js';

const PAIRS = ['BTC/USD', 'ETH/USDT'];
/** Names and texts in the frames of exchanges. */
const KEYS =
  'channel data event events tickers arg success topic type stream result s b ' +
  'symbol product_id instId bids asks method op error code timestamp sequence_num';
const TEXTS = 'ticker status BTC-USD BTCUSD BTC/USD data order_book_btcusd subscribe';

test('text that is no frame is malformed or ignored, and never throws', async (t) => {
  for (const [name, market] of Object.entries(MARKETS)) {
    const session = market.open(PAIRS);
    for (const text of ['', '{', '<html>', '[', 'null', '[]', '1', '"a"'])
      t.match(session.read(text), [{ kind: 'malformed' }], `${name} ${text}`);
    const keys = fc.constantFrom(...KEYS.split(' '));
    const texts = fc.constantFrom(...TEXTS.split(' '));
    const { frame } = fc.letrec((tie) => ({
      frame: fc.dictionary(keys, tie('value'), { maxKeys: 8 }),
      value: fc.oneof(
        { maxDepth: 4 },
        texts,
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie('value'), { maxLength: 3 }),
        tie('frame'),
      ),
    }));
    fc.assert(
      fc.property(frame, (value) => {
        for (const event of session.read(JSON.stringify(value)))
          if (event.kind === 'quote') t.ok(PAIRS.includes(event.quote.symbol) || name === 'kraken');
      }),
      { numRuns: cases(300) },
    );
  }
});

test('deep, long and repeated texts end in time', async (t) => {
  const texts = {
    objects: `${'{"data":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    escapes: `{"channel":"${'\\n'.repeat(300_000)}"}`,
    digits: `{"channel":"ticker","data":[{"symbol":"BTC/USD","bid":${'1'.repeat(500_000)},"ask":2}]}`,
  };
  for (const market of Object.values(MARKETS))
    for (const [name, text] of Object.entries(texts))
      for (const event of market.open(PAIRS).read(text)) {
        if (event.kind === 'malformed') continue;
        t.equal(name, 'digits');
        if (event.kind === 'quote') t.equal(topOf(event.quote).bid, 0n);
      }
});
