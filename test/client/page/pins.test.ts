import { test } from 'tap';
import { isSameKey, PinnedSigners } from '../../../src/client/page/pins.js';
import { assetAt, hashWith, readPlace } from '../../../src/client/page/place.js';

const EVM = `0x${'Ab'.repeat(20)}`;
const OTHER = `0x${'cd'.repeat(20)}`;
const STARK = `0x${'5'.repeat(63)}`;

function newPins() {
  const values = new Map<string, string>();
  const storage = {
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => void values.set(name, value),
    removeItem: (name: string) => void values.delete(name),
  };
  return { values, pins: new PinnedSigners(storage) };
}

test('the first key that is seen is pinned, and no later one', async (t) => {
  const { pins } = newPins();
  t.ok(pins.pinOnFirstUse('evm', EVM));
  t.notOk(pins.pinOnFirstUse('evm', OTHER));
  t.ok(pins.pinOnFirstUse('stark', STARK), 'the other type has a pin of its own');
  t.same(pins.get('evm'), { key: EVM, source: 'first use' });
});

test('a link pins in place of another key, and says which', async (t) => {
  const { pins } = newPins();
  pins.pinOnFirstUse('evm', EVM);
  t.equal(pins.pin('evm', EVM.toLowerCase(), 'link'), undefined, 'the same key');
  t.ok(isSameKey(pins.get('evm')?.key, EVM));
  pins.pin('evm', EVM, 'link');
  t.same(pins.pin('evm', OTHER, 'link'), { key: EVM, source: 'link' });
  t.same(pins.get('evm'), { key: OTHER, source: 'link' });
  t.throws(() => pins.pin('evm', '0x12', 'link'), RangeError);
  t.throws(() => pins.pin('stream', STARK, 'link'), RangeError);
  pins.forget();
  t.equal(pins.get('evm'), undefined);
});

test('streams have a key of their own, or that of EVM aggregates', async (t) => {
  const { pins } = newPins();
  pins.pin('evm', EVM, 'link');
  t.same(pins.get('stream'), { key: EVM, source: 'link' });
  t.notOk(pins.pinOnFirstUse('stream', OTHER), 'a key that the service names later is none of the first use');
  pins.pin('stream', OTHER, 'reader');
  t.same(pins.get('stream'), { key: OTHER, source: 'reader' });
  t.equal(pins.get('evm')?.key, EVM);
  pins.forget();
  t.equal(pins.get('stream'), undefined);
});

test('what is stored and is no pin counts as none', async (t) => {
  const { values, pins } = newPins();
  for (const stored of ['', 'link', `somebody|${OTHER}`, 'link|0x12', `link|${STARK}`]) {
    values.set('tickseal.signer.evm', stored);
    t.equal(pins.get('evm'), undefined, stored);
  }
});

test('the address has the place, and keeps what is not changed', async (t) => {
  const place = {
    asset: 'BTC/USD',
    signature_type: 'stark',
    resolution: '1D',
    at: '2026-11-20T12:00:00Z',
    compare: `stark ${'E'.repeat(64)}`,
  };
  const hash = hashWith(place, '#quorum=https://a');
  t.match(hash, '&at=2026-11-20T12:00:00Z&');
  t.same(readPlace(hash), place);
  t.equal(hashWith({ at: undefined, asset: 'B' }, '#asset=A&at=1&signer=0x1'), '#asset=B&signer=0x1');
  const nowhere = { asset: undefined, signature_type: undefined, at: undefined, compare: undefined };
  t.same(readPlace(`#asset=${'A'.repeat(71)}&resolution=7&at=&compare=${'E'.repeat(71)}`), {
    ...nowhere,
    resolution: '1',
  });
  t.same(readPlace(''), { ...nowhere, resolution: '1' });
});

test('the asset of a place', async (t) => {
  const asset = (id: number, symbol: string, signatureType: 'evm' | 'stark') => ({
    id,
    symbol,
    signatureType,
  });
  const assets = [
    asset(1, 'AB', 'stark'),
    asset(2, 'AB', 'evm'),
    asset(3, 'ab', 'evm'),
    asset(4, 'C', 'stark'),
  ];
  const cases = [
    ['#asset=AB', 2],
    ['#asset=AB&signature_type=stark', 1],
    ['#asset=ab', 3],
    ['#asset=aB', 2],
    ['#asset=c', 4],
    ['#asset=D', undefined],
    ['', 1],
  ] as const;
  for (const [hash, id] of cases) t.equal(assetAt(assets as never, readPlace(hash))?.id, id, hash);
});
