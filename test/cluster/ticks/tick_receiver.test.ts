import { test } from 'tap';
import { assetKey, IdMapping } from '../../../src/cluster/ticks/id_mapping.js';
import { encodeNames, encodeNamesQuery } from '../../../src/cluster/ticks/names.js';
import { encodeTickBatch } from '../../../src/cluster/ticks/tick_batch.js';
import { TickReceiver, type TickReceiverOptions } from '../../../src/cluster/ticks/tick_receiver.js';
import { TickSender } from '../../../src/cluster/ticks/tick_sender.js';
import { livePrice } from '../../model/sample.js';

const SAME = taxonomyOf({ 1: 1, 2: 2, 3: 3 });
const SWAPPED = taxonomyOf({ 1: 2, 2: 1, 3: 3 });

test('a skipped number is asked for, and an answer from before it is not taken', async (t) => {
  const { receive, told, receiver, answer, asked, clock } = receiving();
  receive({ number: 1, full: true, prices: { 1: 10 } });
  receive({ number: 3, prices: { 1: 12 } });
  t.same(asked, ['full.1']);
  await answer({ number: 2, full: true, prices: { 1: 11, 2: 20 } });
  t.notOk(receiver.isComplete);
  clock.nowMs += 100;
  receiver.tick(clock.nowMs);
  await answer({ number: 3, full: true, prices: { 1: 12, 2: 20 } });
  t.ok(receiver.isComplete);
  t.same(told, ['1=10', '1=12', '2=20']);
  t.equal(receiver.gaps, 1);
});

test('a node shows no price while its IDs contradict those of the leader', async (t) => {
  const { receive, told, answer, answerBytes, receiver, own } = receiving((leader) =>
    leader.taxonomyId === 7 ? 'IDs differ' : undefined,
  );
  t.match(receiver.idsRefusal, /not known yet/);
  receive({ number: 1, full: true, prices: { 1: 10 } });
  t.equal(receiver.idsRefusal, undefined, 'equal IDs');
  receive({ number: 2, full: true, prices: { 1: 11 }, taxonomy: SWAPPED });
  await answerBytes(encodeNames({ assets: SWAPPED.assets, isLast: true, taxonomyId: 7 }));
  t.equal(receiver.idsRefusal, 'IDs differ');
  await answer({ number: 2, full: true, prices: { 1: 11 }, taxonomy: SWAPPED });
  receive({ number: 4, prices: { 1: 13 }, taxonomy: SWAPPED });
  t.same(told, ['1=10', '1 ended']);
  own.taxonomy = SWAPPED;
  receive({ number: 5, full: true, prices: { 1: 14 }, taxonomy: SWAPPED });
  t.equal(receiver.idsRefusal, undefined);
  t.same(told.slice(2), ['2=14']);
});

test('a sender gathers what changes in a turn, beats, and repeats all prices', async (t) => {
  const { sender, sent, turn, tickAt } = sending();
  sender.priced(keyOf(1), livePrice(10n));
  await turn();
  t.equal(sent.length, 0, 'not before all prices are known');
  sender.start();
  sender.priced(keyOf(1), livePrice(11n));
  sender.priced(keyOf(1), livePrice(12n));
  sender.priced(keyOf(2), livePrice(20n));
  sender.ended(keyOf(2));
  await turn();
  for (const ms of [100, 1_000]) tickAt(ms);
  t.same(sent, [
    ticksOf({ number: 1, full: true, prices: { 1: 10 } }),
    ticksOf({ number: 2, prices: { 1: 12 }, ended: [2] }),
    ticksOf({ number: 3 }),
    ticksOf({ number: 4, full: true, prices: { 1: 12 } }),
  ]);
});

test('a leader answers a flood of requests within a budget, and names separately from prices', async (t) => {
  const { sender, ask, tickAt } = sending();
  sender.start();
  let answered = 0;
  for (let n = 0; n < 5_000; n++)
    await ask().then(
      () => answered++,
      () => {},
    );
  t.ok(answered > 100 && answered < 1_000, `${answered} answers at once`);
  await ask(encodeNamesQuery(0));
  tickAt(1_000);
  await ask();
});

interface Sample {
  readonly number: number;
  readonly full?: boolean;
  readonly prices?: Readonly<Record<number, number>>;
  readonly ended?: readonly number[];
  readonly taxonomy?: IdMapping;
}

function ticksOf({ taxonomy = SAME, prices = {}, ...rest }: Sample): Uint8Array {
  const byId = new Map(Object.entries(prices).map(([id, price]) => [Number(id), livePrice(BigInt(price))]));
  return encodeTickBatch({
    epoch: 1,
    full: false,
    ended: [],
    ...rest,
    prices: byId,
    taxonomy: taxonomy.hash,
  });
}

/** Returns symbols by streaming ID. Each symbol is the text of its ID in the first taxonomy. */
function taxonomyOf(symbols: Readonly<Record<number, number>>): IdMapping {
  const assets = Object.entries(symbols).map(([id, symbol]) => {
    return { id: Number(id), symbol: String(symbol), signatureType: 'evm' } as const;
  });
  return new IdMapping(assets);
}

function keyOf(symbol: number) {
  return assetKey({ symbol: String(symbol), signatureType: 'evm' });
}

function receiving(refuseIds?: TickReceiverOptions['refuseIds']) {
  const told: string[] = [];
  const asked: string[] = [];
  const clock = { nowMs: 0 };
  const own = { taxonomy: SAME };
  let receiveBytes: (bytes: Uint8Array) => void = () => {};
  let resolve: (bytes: Uint8Array) => void = () => {};
  const receiver = new TickReceiver({
    bus: {
      listen(_, listener) {
        receiveBytes = (bytes) => listener(bytes, 'tick');
        return () => {};
      },
      ask(topic, query) {
        asked.push(query.length === 0 ? topic : `${topic} from ${query.join()}`);
        return new Promise((done) => {
          resolve = done;
        });
      },
    },
    prices: {
      priced: ({ symbol }, { price }) => told.push(`${symbol}=${price}`),
      ended: ({ symbol }) => told.push(`${symbol} ended`),
    },
    taxonomy: () => own.taxonomy,
    refuseIds,
    timing: { feedTimeoutMs: 3_000, retryMs: 100 },
    nowMs: () => clock.nowMs,
    received: () => {},
    overtaken: () => {},
  });
  receiver.start();
  const answerBytes = async (bytes: Uint8Array) => {
    resolve(bytes);
    for (let turn = 0; turn < 5; turn++) await undefined;
  };
  return {
    receiver,
    told,
    asked,
    clock,
    own,
    receive: (sample: Sample) => receiveBytes(ticksOf(sample)),
    answer: (sample: Sample) => answerBytes(ticksOf(sample)),
    answerBytes,
  };
}

function sending() {
  const sent: Uint8Array[] = [];
  const clock = { nowMs: 0 };
  let handle: (query: Uint8Array, topic: string) => Promise<Uint8Array>;
  const sender = new TickSender({
    bus: {
      send: (_, bytes) => sent.push(bytes),
      answer(_, handler) {
        handle = handler;
        return () => {};
      },
      waitingBytes: 0,
    },
    epoch: 1,
    taxonomy: () => SAME,
    mayTick: () => true,
    timing: { heartbeatMs: 100, fullTableMs: 1_000 },
    nowMs: () => clock.nowMs,
    defer: queueMicrotask,
  });
  return {
    sender,
    sent,
    ask: (query: Uint8Array = new Uint8Array(0)) => handle(query, 'full.7'),
    tickAt(ms: number) {
      clock.nowMs = ms;
      sender.tick(ms);
    },
    async turn() {
      for (let turn = 0; turn < 3; turn++) await undefined;
    },
  };
}
