import { test } from 'tap';
import { MARKETS } from '../../../src/sources/adapters/built_in.js';
import type { MarketEvent } from '../../../src/sources/adapters/market.js';
import type { BuiltInKind } from '../../../src/sources/sources_schema.js';

/** The messages of each exchange for two pairs, and the number of pairs in each message for 51 pairs. */
const MESSAGES: Readonly<Record<BuiltInKind, { readonly texts: string; readonly sizes: readonly number[] }>> =
  {
    kraken: {
      texts: `
{"method":"subscribe","params":{"channel":"ticker","symbol":["BTC/USD","ETH/USD"],"event_trigger":"bbo","snapshot":true}}
{"method":"unsubscribe","params":{"channel":"ticker","symbol":["BTC/USD"],"event_trigger":"bbo"}}`,
      sizes: [51],
    },
    // A quiet connection of Coinbase is closed, so heartbeats are subscribed too.
    coinbase: {
      texts: `
{"type":"subscribe","product_ids":["BTC-USD","ETH-USD"],"channel":"ticker"}
{"type":"subscribe","channel":"heartbeats"}
{"type":"unsubscribe","product_ids":["BTC-USD"],"channel":"ticker"}`,
      sizes: [51, 0],
    },
    binance: {
      texts: `
{"method":"SUBSCRIBE","params":["btcusd@bookTicker","ethusd@bookTicker"],"id":1}
{"method":"UNSUBSCRIBE","params":["btcusd@bookTicker"],"id":2}`,
      sizes: [50, 1],
    },
    okx: {
      texts: `
{"op":"subscribe","args":[{"channel":"bbo-tbt","instId":"BTC-USD"},{"channel":"bbo-tbt","instId":"ETH-USD"}]}
{"op":"unsubscribe","args":[{"channel":"bbo-tbt","instId":"BTC-USD"}]}`,
      sizes: [25, 25, 1],
    },
    bybit: {
      texts: `
{"req_id":"0","op":"subscribe","args":["orderbook.1.BTCUSD","orderbook.1.ETHUSD"]}
{"op":"unsubscribe","args":["orderbook.1.BTCUSD"]}`,
      sizes: [10, 10, 10, 10, 10, 1],
    },
    bitstamp: {
      texts: `
{"event":"bts:subscribe","data":{"channel":"order_book_btcusd"}}
{"event":"bts:subscribe","data":{"channel":"order_book_ethusd"}}
{"event":"bts:unsubscribe","data":{"channel":"order_book_btcusd"}}`,
      sizes: Array(51).fill(1),
    },
  };

/** Frames of one session in order, each with its events in words: a quote is a pair, a bid, an ask and a time. */
const FRAMES: Readonly<Record<BuiltInKind, string>> = {
  // JSON numbers keep their digits. Any status but online halts the market, though heartbeats and quotes go on.
  kraken: `
{"channel":"status","type":"update","data":[{"system":"online","connection_id":15113583034416118705}]} →
{"channel":"ticker","data":[{"symbol":"BTC/USD","bid":62807.0,"bid_qty":0.00000000,"ask":62818.80,"last":1,"timestamp":"2026-08-12T19:29:00.921195Z"}]} → BTC/USD 62807.0 62818.80 1786562940921195000
{"channel":"ticker","data":[{"symbol":"BTC/USD","bid":5.1e-05,"ask":0.00005200}]} → BTC/USD 5.1e-05 0.00005200 undefined
{"channel":"ticker","data":[{"symbol":"BTC/USD","bid":null,"ask":62818.8}]} → BTC/USD undefined 62818.8 undefined
{"channel":"heartbeat"} →
{"method":"subscribe","result":{"channel":"ticker","symbol":"BTC/USD"},"success":true} → subscribed BTC/USD
{"error":"Currency pair not supported XBT/USDT","method":"subscribe","success":false,"symbol":"XBT/USDT"} → refused XBT/USDT: "Currency pair not supported XBT/USDT"
{"error":"Malformed request","method":"error"} → refused undefined: "Malformed request"
{"channel":"status","data":[{"system":"maintenance"}]} → halted: status maintenance
{"channel":"ticker","data":[{"symbol":"BTC/USD","bid":1,"ask":2}]} →
{"channel":"status","data":[{"system":"post_only"}]} → halted: status post_only
{"channel":"status","data":[{"system":"online"}]} →
{"channel":"ticker","data":[{"symbol":"BTC/USD","bid":1,"ask":2}]} → BTC/USD 1 2 undefined`,
  // Data comes before the acknowledgement. The last trade is no quote. The numbers count the frames of all channels.
  coinbase: `
{"channel":"ticker","timestamp":"2026-08-12T19:27:33.489674268Z","sequence_num":7,"events":[{"tickers":[{"product_id":"BTC-USD","price":"1","best_bid":"63318.86","best_ask":"63318.87"}]}]} → BTC/USD 63318.86 63318.87 1786562853489674268
{"channel":"subscriptions","sequence_num":8,"events":[{"subscriptions":{"ticker":["BTC-USD"]}}]} → subscribed BTC/USD
{"channel":"subscriptions","sequence_num":9,"events":[{"subscriptions":{}}]} →
{"channel":"ticker","sequence_num":10,"events":[{"tickers":[{"product_id":"SOL-USD","price":"1","best_bid":"1","best_ask":"2"}]}]} →
{"channel":"ticker","sequence_num":11,"events":[{"tickers":[{"product_id":"BTC-USD","price":"63320.73"}]}]} → BTC/USD undefined undefined undefined
{"type":"error","message":"too many products"} → refused undefined: "too many products"
{"channel":"heartbeats","sequence_num":12,"events":[{"heartbeat_counter":42}]} →
{"channel":"heartbeats","sequence_num":14,"events":[]} → ending: frame 13 was lost`,
  // Frames come raw or combined, and have no time. An acknowledgement proves nothing.
  binance: `
{"u":98494969448,"s":"BTCUSD","b":"63704.00000000","B":"4.7","a":"63704.01000000","A":"11.3"} → BTC/USD 63704.00000000 63704.01000000 undefined
{"stream":"ethusd@bookTicker","data":{"u":1,"s":"ETHUSD","b":"1","B":"1","a":"2","A":"1"}} → ETH/USD 1 2 undefined
{"stream":"btcusd@aggTrade","data":{"e":"aggTrade","s":"BTCUSD","a":1,"p":"2"}} →
{"result":null,"id":1} →
{"code":2,"msg":"Invalid request"} → refused undefined: "Invalid request"
{"error":{"code":2,"msg":"Invalid request"},"id":1} → refused undefined: "Invalid request"
{"e":"serverShutdown","E":1770123456789} → ending: the server shuts down
{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1770123456789}} → ending: the server shuts down`,
  // Levels are price, size, 0 and orders. A refused pair is named only in the text.
  okx: `
{"event":"subscribe","arg":{"channel":"bbo-tbt","instId":"BTC-USD"},"connId":"a"} → subscribed BTC/USD
{"event":"subscribe","arg":{"channel":"bbo-tbt","instId":"BTC-USD"},"connId":"b"} → subscribed BTC/USD
{"arg":{"channel":"bbo-tbt","instId":"BTC-USD"},"data":[{"asks":[["97687.6","0.1","0","3"]],"bids":[["97687.5","0.8","0","10"]],"ts":"1739657990337","seqId":1}]} → BTC/USD 97687.5 97687.6 1739657990337000000
{"arg":{"channel":"bbo-tbt","instId":"BTC-USD"},"data":[{"asks":[],"bids":[["97687.5","0.8","0","10"]],"ts":"1739657990337"}]} → BTC/USD 97687.5 undefined 1739657990337000000
pong →
{"event":"error","msg":"Subscribe failed, wrong URL or channel:bbo-tbt,instId:ETH-USD doesn't exist.","code":"60018"} → refused ETH/USD: "Subscribe failed, wrong URL or channel:bbo-tbt,instId:ETH-USD doesn't exist."
{"event":"error","msg":"Illegal request: {}","code":"60012"} → refused undefined: "Illegal request: {}"
{"event":"notice","code":"1","msg":"hello"} →
{"event":"notice","code":"64008","msg":"The connection will soon be closed"} → ending: an upgrade is announced`,
  // The time is that of the engine. An unchanged book is sent again. Deltas and tickers are no quotes.
  bybit: `
{"success":true,"ret_msg":"subscribe","req_id":"0","op":"subscribe"} → subscribed BTC/USD,ETH/USD
{"topic":"orderbook.1.BTCUSD","ts":1786613159749,"type":"snapshot","data":{"s":"BTCUSD","b":[["63705.3","2.0"]],"a":[["63705.4","2.3"]],"u":1},"cts":1786613159748} → BTC/USD 63705.3 63705.4 1786613159748000000
{"topic":"orderbook.1.BTCUSD","ts":1786613162749,"type":"snapshot","data":{"s":"BTCUSD","b":[["63705.3","2.0"]],"a":[["63705.4","2.3"]],"u":1},"cts":1786613162748} → BTC/USD 63705.3 63705.4 1786613162748000000 again
{"topic":"orderbook.1.BTCUSD","type":"snapshot","data":{"s":"BTCUSD","b":[],"a":[["1","1"]],"u":2},"cts":1786613162748} → BTC/USD undefined 1 1786613162748000000
{"topic":"orderbook.1.BTCUSD","type":"delta","data":{"s":"BTCUSD","b":[["1","1"]],"a":[["2","1"]],"u":3}} →
{"topic":"tickers.BTCUSD","type":"snapshot","data":{"symbol":"BTCUSD","lastPrice":"1"}} →
{"success":false,"ret_msg":"Invalid symbol :[orderbook.1.ETHUSD]","op":"subscribe"} → refused ETH/USD: "Invalid symbol :[orderbook.1.ETHUSD]"
{"success":false,"ret_msg":"error:handler not found,topic:orderbook.1.ETHUSD","op":"subscribe"} → refused ETH/USD: "error:handler not found,topic:orderbook.1.ETHUSD"
{"success":false,"ret_msg":"args size >10","op":"subscribe"} → refused undefined: "args size >10"
{"success":false,"ret_msg":"error:already subscribed,topic:orderbook.1.BTCUSD","op":"subscribe"} →
{"success":true,"ret_msg":"pong","op":"ping"} →`,
  // A crossed book is left out, an empty one takes the quote away, and a level of size 0 is gone. The time is in microseconds.
  bitstamp: `
{"event":"bts:subscription_succeeded","channel":"order_book_ethusd","data":{}} → subscribed ETH/USD
{"event":"data","channel":"order_book_ethusd","data":{"timestamp":"1","microtimestamp":"1791357997711238","bids":[["2616.35","5.1"],["2616.33","11.4"]],"asks":[["2616.40","1.0"]]}} → ETH/USD 2616.35 2616.40 1791357997711238000
{"event":"data","channel":"order_book_ethusd","data":{"bids":[["2616.40","1"]],"asks":[["2616.40","1"]]}} → ETH/USD 2616.40 2616.40 undefined
{"event":"data","channel":"order_book_ethusd","data":{"bids":[["2616.41","1"]],"asks":[["2616.40","1"]]}} →
{"event":"data","channel":"order_book_ethusd","data":{"bids":[["2616.41","1"]],"asks":[]}} → ETH/USD 2616.41 undefined undefined
{"event":"data","channel":"order_book_ethusd","data":{"bids":[["2616.42","0"],["2616.41","0.00000"],["2616.40","0.00001"]],"asks":[["2616.43","0.00000"]]}} → ETH/USD 2616.40 undefined undefined
{"event":"data","channel":"diff_order_book_ethusd","data":{"bids":[["1","1"]],"asks":[["2","1"]]}} →
{"event":"bts:heartbeat","channel":"","data":{"status":"success"}} →
{"event":"bts:error","channel":"","data":{"code":null,"message":"Invalid channel provided."}} → refused undefined: "Invalid channel provided."
{"event":"bts:request_reconnect","channel":"","data":""} → ending: the server asks for a new connection
{"event":"bts:request_reconnect","channel":"","data":null} → ending: the server asks for a new connection`,
};

const KINDS = Object.keys(FRAMES) as BuiltInKind[];
const PAIRS = ['BTC/USD', 'ETH/USD'];

function inWords(event: MarketEvent): string {
  if (event.kind === 'subscribed') return `subscribed ${event.pairs.join()}`;
  if (event.kind === 'refused') return `refused ${event.pair}: ${event.reason}`;
  if (event.kind !== 'quote') return `${event.kind}: ${event.reason}`;
  const { symbol, bid, ask, atNs, isRepeated } = event.quote;
  return `${symbol} ${bid} ${ask} ${atNs}${isRepeated === true ? ' again' : ''}`;
}

test('each exchange gets the messages that it knows, with at most as many pairs as it takes', async (t) => {
  for (const kind of KINDS) {
    const session = MARKETS[kind].open(PAIRS);
    const texts = [...session.subscribe(PAIRS), ...session.unsubscribe(['BTC/USD'])];
    t.same(texts, MESSAGES[kind].texts.trim().split('\n'), kind);
    const many = MARKETS[kind].open([]).subscribe(Array.from({ length: 51 }, (_, i) => `C${i}/USDT`));
    t.same(
      many.map((text) => [...text.matchAll(/C\d+\W?USDT/gi)].length),
      MESSAGES[kind].sizes,
      kind,
    );
  }
});

test('each frame of an exchange is read as what it means', async (t) => {
  for (const kind of KINDS) {
    const session = MARKETS[kind].open(PAIRS);
    session.subscribe(PAIRS);
    for (const line of FRAMES[kind].trim().split('\n')) {
      const [frame, events] = line.split(' →') as [string, string];
      t.equal(session.read(frame).map(inWords).join(), events.trim(), `${kind}: ${frame}`);
    }
  }
});
