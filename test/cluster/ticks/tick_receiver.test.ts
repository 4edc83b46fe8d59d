import { test } from 'tap';
import { assetKey, IdMapping } from '../../../src/cluster/ticks/id_mapping.js';
import { decodeNames, encodeNames, encodeNamesQuery } from '../../../src/cluster/ticks/names.js';
import { encodeTickBatch, type TickBatch } from '../../../src/cluster/ticks/tick_batch.js';
import { TickReceiver, type TickReceiverOptions } from '../../../src/cluster/ticks/tick_receiver.js';
import { TickSender } from '../../../src/cluster/ticks/tick_sender.js';
import { livePrice } from '../../model/sample.js';

const NO_BYTES = new Uint8Array(0);
const SAME = taxonomyOf({ 1: 1, 2: 2, 3: 3 });
const SWAPPED = taxonomyOf({ 1: 2, 2: 1, 3: 3 });

test('changes follow a full table, and what is known already is not told again', async (t) => {
  const { receive, told, receiver } = receiving();
  receive({
    number: 1,
    full: true,
    prices: [
      [1, 10],
      [2, 20],
    ],
  });
  t.ok(receiver.isComplete);
  receive({ number: 2, prices: [[1, 11]] });
  receive({ number: 2, prices: [[1, 99]] });
  receive({ number: 3, ended: [2] });
  receive({
    number: 4,
    full: true,
    prices: [
      [1, 11],
      [3, 30],
    ],
  });
  t.same(told, ['1=10', '2=20', '1=11', '2 ended', '3=30']);
  t.equal(receiver.gaps, 0);
});

test("a node's own ticks are not shown, until the log lacks records that the node has not read", (t) => {
  const { receive, told, receiver } = receiving();
  receiver.lead(1);
  receiver.stepDown();
  receive({ number: 1, full: true, prices: [[1, 10]] });
  t.same(told, []);
  receiver.recordsMissing();
  receive({ number: 1, full: true, prices: [[1, 11]] });
  t.same(told, ['1=11']);
  t.ok(receiver.isComplete);
  t.end();
});

test('a skipped number is asked for, and an answer from before it is not taken', async (t) => {
  const { receive, told, receiver, answer, asked, clock } = receiving();
  receive({ number: 1, full: true, prices: [[1, 10]] });
  receive({ number: 3, prices: [[1, 12]] });
  t.same(asked, ['full.1']);
  t.notOk(receiver.isComplete);
  await answer({
    number: 2,
    full: true,
    prices: [
      [1, 11],
      [2, 20],
    ],
  });
  t.notOk(receiver.isComplete);
  clock.nowMs += 100;
  receiver.tick(clock.nowMs);
  await answer({
    number: 3,
    full: true,
    prices: [
      [1, 12],
      [2, 20],
    ],
  });
  t.ok(receiver.isComplete);
  t.same(told, ['1=10', '1=12', '2=20']);
  t.equal(receiver.gaps, 1);
});

test('a newer epoch replaces the older one, whose ticks are dropped', async (t) => {
  const { receive, told, receiver, asked } = receiving();
  receive({ number: 1, full: true, prices: [[1, 10]] });
  receiver.began(5);
  receive({ number: 2, prices: [[1, 66]] });
  receive({ epoch: 5, number: 2, prices: [[1, 50]] });
  t.same(asked, ['full.5'], 'its first batch was lost');
  receive({ epoch: 5, number: 3, full: true, prices: [[2, 51]] });
  t.same(told, ['1=10', '1=50', '1 ended', '2=51']);
});

test('a sender gathers what changes in a turn, beats, and repeats all prices', async (t) => {
  const { sender, sent, clock, turn } = sending();
  sender.priced(keyOf(1), livePrice(10n));
  await turn();
  t.equal(sent.length, 0, 'not before all prices are known');
  sender.start();
  sender.priced(keyOf(1), livePrice(11n));
  sender.priced(keyOf(1), livePrice(12n));
  sender.priced(keyOf(2), livePrice(20n));
  sender.ended(keyOf(2));
  await turn();
  clock.nowMs = 100;
  sender.tick(clock.nowMs);
  clock.nowMs = 1_000;
  sender.tick(clock.nowMs);
  const same = (number: number, full: boolean, prices: [number, number][], ended: number[] = []) =>
    encodeTickBatch(batchOf({ epoch: 1, number, full, prices, ended }));
  t.same(sent, [
    same(1, true, [[1, 10]]),
    same(2, false, [[1, 12]], [2]),
    same(3, false, []),
    same(4, true, [[1, 12]]),
  ]);
});

test('what could not be sent is made up for by all prices', async (t) => {
  const { sender, sent, clock, turn, state } = sending();
  sender.start();
  state.mayTick = false;
  sender.priced(keyOf(1), livePrice(10n));
  await turn();
  clock.nowMs = 100;
  sender.tick(clock.nowMs);
  t.equal(sent.length, 1);
  await t.rejects(state.answer(), 'nor does it answer');
  state.mayTick = true;
  state.waitingBytes = 9 * 1024 * 1024;
  clock.nowMs = 200;
  sender.tick(clock.nowMs);
  t.equal(sent.length, 1);
  state.waitingBytes = 0;
  t.equal(sender.nextDueMs(), 300);
  clock.nowMs = 300;
  sender.tick(clock.nowMs);
  t.same(sent[1], encodeTickBatch(batchOf({ epoch: 1, number: 2, full: true, prices: [[1, 10]] })));
  t.same(await state.answer(), sent[1]);
});

test('prices of a leader with other IDs are shown by name, once it has said what they mean', async (t) => {
  const { receive, told, receiver, asked, answer, answerBytes } = receiving();
  receive({ number: 1, full: true, prices: [[1, 10]] });
  receive({ number: 2, prices: [[2, 11]], taxonomy: SWAPPED });
  t.same(told, ['1=10'], 'not under the names of this node');
  t.notOk(receiver.isComplete);
  t.same(asked, ['full.1 from 0,0']);
  await answerBytes(encodeNames({ assets: SWAPPED.assets, isLast: true }));
  t.same(asked.slice(1), ['full.1']);
  const swapped: Sample = {
    number: 2,
    full: true,
    taxonomy: SWAPPED,
    prices: [
      [2, 11],
      [1, 20],
    ],
  };
  await answer(swapped);
  t.ok(receiver.isComplete);
  receive({ number: 3, prices: [[1, 21]], ended: [2], taxonomy: SWAPPED });
  t.same(told, ['1=10', '1=11', '2=20', '1 ended', '2=21']);
  receive({ number: 4, prices: [[1, 12]] });
  t.same(told.slice(5), ['1=12'], 'its own names are right again');
  t.equal(asked.length, 2);
});

test('a node shows no price while its IDs contradict those of the leader', async (t) => {
  const { receive, told, answer, answerBytes, receiver, own } = receiving((leader) =>
    leader.taxonomyId === 7 ? 'IDs differ' : undefined,
  );
  t.match(receiver.idsRefusal, /not known yet/);
  receive({ number: 1, full: true, prices: [[1, 10]] });
  t.equal(receiver.idsRefusal, undefined, 'equal IDs');
  receive({ number: 2, full: true, prices: [[1, 11]], taxonomy: SWAPPED });
  await answerBytes(encodeNames({ assets: SWAPPED.assets, isLast: true, taxonomyId: 7 }));
  t.equal(receiver.idsRefusal, 'IDs differ');
  await answer({ number: 2, full: true, prices: [[1, 11]], taxonomy: SWAPPED });
  receive({ number: 3, full: true, prices: [[1, 12]], taxonomy: SWAPPED });
  receive({ number: 4, prices: [[1, 13]], taxonomy: SWAPPED });
  t.same(told, ['1=10', '1 ended']);
  t.notOk(receiver.isComplete);
  own.taxonomy = SWAPPED;
  receive({ number: 5, full: true, prices: [[1, 14]], taxonomy: SWAPPED });
  t.equal(receiver.idsRefusal, undefined);
  t.same(told.slice(2), ['2=14']);
});

test('a leader says under which IDs it ticks, which a reload changes', async (t) => {
  const { sender, sent, state, turn } = sending();
  sender.start();
  sender.priced(keyOf(1), livePrice(10n));
  await turn();
  state.taxonomy = SWAPPED;
  sender.priced(keyOf(1), livePrice(11n));
  await turn();
  t.same(sent[1], encodeTickBatch(batchOf({ number: 2, prices: [[1, 10]] })));
  t.same(sent[2], encodeTickBatch(batchOf({ number: 3, prices: [[2, 11]], taxonomy: SWAPPED })));
  t.same(decodeNames(await state.answer(encodeNamesQuery(2))), {
    assets: SWAPPED.assets.slice(1),
    isLast: true,
  });
  state.taxonomy = taxonomyOf({ 3: 3 });
  sender.ended(keyOf(1));
  await turn();
  const last = batchOf({ number: 4, full: true, taxonomy: state.taxonomy });
  t.same(sent[3], encodeTickBatch(last), 'what has no ID any more is not among all prices');
});

interface Sample {
  readonly epoch?: number;
  readonly number: number;
  readonly full?: boolean;
  readonly prices?: readonly (readonly [number, number])[];
  readonly ended?: readonly number[];
  readonly taxonomy?: IdMapping;
}

test('a leader answers a flood of requests within a budget, and names separately from prices', async (t) => {
  const { sender, state, clock } = sending();
  sender.priced(assetKey({ symbol: 'A1', signatureType: 'evm' }), livePrice(1n));
  sender.start();
  let answered = 0;
  for (let n = 0; n < 5_000; n++)
    await state.answer().then(
      () => answered++,
      () => {},
    );
  t.ok(answered > 100 && answered < 1_000, `${answered} answers at once`);
  await state.answer(encodeNamesQuery(0));
  clock.nowMs += 1_000;
  await state.answer();
});

function batchOf({
  epoch = 1,
  number,
  full = false,
  prices = [],
  ended = [],
  taxonomy = SAME,
}: Sample): TickBatch {
  return {
    epoch,
    number,
    full,
    prices: new Map(prices.map(([id, price]) => [id, livePrice(BigInt(price))])),
    ended,
    taxonomy: taxonomy.hash,
  };
}

/** Returns symbols by streaming ID. Each symbol is the text of its ID in the first taxonomy. */
function taxonomyOf(symbols: Readonly<Record<number, number>>): IdMapping {
  return new IdMapping(
    Object.entries(symbols).map(([id, symbol]) => ({
      id: Number(id),
      symbol: String(symbol),
      signatureType: 'evm',
    })),
  );
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
    receiveBytes: (bytes: Uint8Array) => receiveBytes(bytes),
    receive: (sample: Sample) => receiveBytes(encodeTickBatch(batchOf(sample))),
    answer: (sample: Sample) => answerBytes(encodeTickBatch(batchOf(sample))),
    answerBytes,
  };
}

function sending() {
  const sent: Uint8Array[] = [];
  const clock = { nowMs: 0 };
  const state = {
    mayTick: true,
    waitingBytes: 0,
    taxonomy: SAME,
    answer: (_query?: Uint8Array): Promise<Uint8Array> => Promise.resolve(NO_BYTES),
  };
  const sender = new TickSender({
    bus: {
      send: (_, bytes) => sent.push(bytes),
      answer(_, handler) {
        state.answer = (query = NO_BYTES) => handler(query, 'full.7');
        return () => {};
      },
      get waitingBytes() {
        return state.waitingBytes;
      },
    },
    epoch: 1,
    taxonomy: () => state.taxonomy,
    mayTick: () => state.mayTick,
    timing: { heartbeatMs: 100, fullTableMs: 1_000 },
    nowMs: () => clock.nowMs,
    defer: queueMicrotask,
  });
  return {
    sender,
    sent,
    clock,
    state,
    async turn() {
      for (let turn = 0; turn < 3; turn++) await undefined;
    },
  };
}
