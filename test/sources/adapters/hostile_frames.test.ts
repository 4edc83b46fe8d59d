import fc from 'fast-check';
import { test } from 'tap';
import { MARKETS } from '../../../src/sources/adapters/built_in.js';

const PAIRS = ['BTC/USD', 'ETH/USDT'];

test('text that is no frame is malformed or ignored, and never throws', async (t) => {
  for (const [name, market] of Object.entries(MARKETS)) {
    const session = market.open(PAIRS);
    for (const text of ['', '{', '<html>', '[', 'null', '[]', '1', '"a"'])
      t.match(session.read(text), [{ kind: 'malformed' }], `${name} ${text}`);
    const keys = fc.constantFrom(
      ...[
        'channel',
        'data',
        'event',
        'events',
        'tickers',
        'arg',
        'success',
        'topic',
        'type',
        'stream',
        'result',
        's',
        'b',
      ],
      ...[
        'symbol',
        'product_id',
        'instId',
        'bids',
        'asks',
        'method',
        'op',
        'error',
        'code',
        'timestamp',
        'sequence_num',
      ],
    );
    const texts = fc.constantFrom(
      'ticker',
      'status',
      'BTC-USD',
      'BTCUSD',
      'BTC/USD',
      'data',
      'order_book_btcusd',
      'subscribe',
    );
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
      { numRuns: 300 },
    );
  }
});
