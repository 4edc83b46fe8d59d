import { test } from 'tap';
import type { Price } from '../../src/model/price.js';
import type { PublisherPrice, SignedAggregate } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';
import {
  decodeHolding,
  encodeHolding,
  type Holding,
  holdingBytes,
  openHolding,
} from '../../src/records/second_record.js';
import { aggregateOf, HOUR_START_NS, inputOf } from '../past/sample_past.js';

const SYMBOL = 'BTCUSD';
const MINUTE = { minute: 7, open: 1.5, high: 2.5, low: 0.5, close: 2 };
const INPUTS = [0, 1, 2].map((publisher) => inputOf(SYMBOL, publisher, HOUR_START_NS));

function holdingOf(inputs: readonly PublisherPrice[], over: Partial<SignedAggregate> = {}): Holding {
  const aggregate = { ...aggregateOf(SYMBOL, HOUR_START_NS, inputs), ...over };
  return { state: 'priced', timeNs: aggregate.signedAtNs, minute: MINUTE, aggregate };
}

function open(inputs: readonly PublisherPrice[], before?: Holding): SignedAggregate {
  return openHolding(new Uint8Array(encodeHolding(holdingOf(inputs))), SYMBOL, before).aggregate!;
}

test('an opened record has the same fields as a decoded one', async (t) => {
  const over: Partial<SignedAggregate>[] = [
    {},
    { trigger: 'delta', v: 28, algorithm: 'weighted average' },
    { signatureType: 'stark', v: undefined, price: -(2n ** 127n) as Price },
    { price: (2n ** 127n - 1n) as Price, timestampNs: 0n as TimeNs, inputs: [] },
  ];
  for (const one of over) {
    const holding = holdingOf(INPUTS, one);
    const bytes = new Uint8Array(encodeHolding(holding));
    t.match(decodeHolding(bytes, SYMBOL), holding);
    const opened = openHolding(bytes, SYMBOL);
    t.same(
      opened.aggregate?.inputs.map(({ wire }) => wire),
      holding.aggregate?.inputs.map(({ wire }) => wire),
    );
    t.same({ ...opened.aggregate, inputs: [] }, { ...decodeHolding(bytes, SYMBOL).aggregate, inputs: [] });
    t.same([opened.timeNs, opened.minute, holdingBytes(opened)], [holding.timeNs, MINUTE, bytes]);
  }
  for (const state of ['ended', 'gap'] as const) {
    const holding: Holding = { state, timeNs: HOUR_START_NS, minute: undefined };
    const bytes = new Uint8Array(encodeHolding(holding));
    t.same(decodeHolding(bytes, SYMBOL), holding);
    t.same(openHolding(bytes, SYMBOL), { ...holding, bytes });
  }
});

test('equal inputs of successive records are the same objects', async (t) => {
  const [first, second, third] = INPUTS as [PublisherPrice, PublisherPrice, PublisherPrice];
  const bytes = new Uint8Array(encodeHolding(holdingOf([first, second])));
  const before = openHolding(bytes, SYMBOL);
  const { inputs } = before.aggregate!;
  t.equal(open([first, second], before).inputs, inputs, 'the whole list');
  const unread = openHolding(bytes, SYMBOL, before);
  t.equal(open([first, second], unread).inputs, inputs, 'after a record that nobody has read');
  const changed = open([first, third], before).inputs;
  t.equal(changed[0], inputs[0]);
  t.same(changed[1]?.wire, third.wire);
  const longer = open([first, second, third], before).inputs;
  t.same(
    longer.map((input) => inputs.indexOf(input)),
    [0, 1, -1],
  );
  t.equal(open([first], before).inputs.length, 1);
  t.same(
    open([first, second], { state: 'ended', timeNs: HOUR_START_NS, minute: undefined }).inputs.length,
    2,
  );
});

test('bytes that are not a record do not open', async (t) => {
  const bytes = new Uint8Array(encodeHolding(holdingOf(INPUTS)));
  t.throws(() => openHolding(new Uint8Array(3), SYMBOL), RangeError);
  // The inputs are at the end of the bytes.
  for (let length = 0; length <= bytes.length - 8; length++) {
    const cut = bytes.slice(0, length);
    t.throws(() => openHolding(cut, SYMBOL).aggregate, RangeError, `the first ${length} bytes`);
  }
  const priced = new Uint8Array(
    encodeHolding({ state: 'priced', timeNs: 1n as TimeNs } as unknown as Holding),
  );
  t.throws(() => openHolding(priced, SYMBOL).aggregate, /lacks a field/);
});

test('successive records of different keys have their own keys', async (t) => {
  const keys = ['0xC4a02e7D370402F4aFC36032076B05e74FF81786', '0x00ab', '0x00ab', '0xab', '0x1'];
  const records = keys.map((publicKey) => new Uint8Array(encodeHolding(holdingOf(INPUTS, { publicKey }))));
  t.same(
    records.map((bytes) => openHolding(bytes, SYMBOL).aggregate?.publicKey),
    keys,
  );
});
