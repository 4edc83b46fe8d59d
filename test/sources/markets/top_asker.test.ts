import type { ServerResponse } from 'node:http';
import { test } from 'tap';
import { MARKETS } from '../../../src/sources/adapters/built_in.js';
import { answerSession } from '../../../src/sources/json_sessions.js';
import { TopAsker } from '../../../src/sources/markets/top_asker.js';
import { serve } from '../../local_server.js';
import { ManualTime, until } from './manual_time.js';

const { top } = MARKETS.binance;

test('an answer that a frame has overtaken is not read, and a request that waits is not sent', async (t) => {
  const asked: { readonly url: string; readonly response: ServerResponse }[] = [];
  const address = await serve(t, ({ url = '' }, response) => asked.push({ url, response }));
  const time = new ManualTime();
  const read: string[] = [];
  const asker = new TopAsker({
    top,
    url: `${address}/{symbol}`,
    sink: {
      begin: (symbols) => ({ connection: 1, session: answerSession(symbols[0]!, top.paths) }),
      end: () => {},
      read: (_, text) => {
        read.push(text);
        return answerSession('BTC/USDT', top.paths).read(text);
      },
      lacks: () => {},
      warn: (text) => t.fail(text),
    },
    schedule: time.schedule,
  });
  t.teardown(() => asker.close());
  const heard = new Set<string>();
  const quoted: unknown[] = [];
  const ask = (pair: string) =>
    asker.ask(pair, { isNeeded: () => !heard.has(pair), onQuote: ({ bid }) => quoted.push(bid) });
  const answer = async (price: number) => {
    asked.at(-1)!.response.end(`{"bidPrice":"${price}","askPrice":"9"}`);
    await until(() => asked.at(-1)!.response.closed, 'the answer');
  };
  ask('BTC/USDT');
  ask('ETH/USDT');
  ask('XRP/USDT');
  await until(() => asked.length === 1, 'the first request');
  heard.add('BTC/USDT').add('ETH/USDT');
  await answer(1);
  await until(() => {
    time.advance(1_000);
    return asked.length === 2;
  }, 'the next request');
  t.equal(asked[1]!.url, '/XRPUSDT', 'the pair that was heard in the meantime is not asked for');
  await answer(2);
  await until(() => quoted.length > 0, 'the quote');
  t.same(quoted, ['2']);
  t.equal(read.length, 1, 'the first answer was not read');
});
