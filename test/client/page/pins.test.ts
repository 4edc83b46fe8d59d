import { test } from 'tap';
import { isSameKey, PinnedSigners } from '../../../src/client/page/pins.js';

const EVM = `0x${'Ab'.repeat(20)}`;
const OTHER = `0x${'cd'.repeat(20)}`;
const STARK = `0x${'5'.repeat(63)}`;

function newPins() {
  const values = new Map<string, string>();
  return new PinnedSigners({
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => void values.set(name, value),
    removeItem: (name: string) => void values.delete(name),
  });
}

test('the first key that is seen is pinned, and no later one', async (t) => {
  const pins = newPins();
  t.ok(pins.pinOnFirstUse('evm', EVM));
  t.notOk(pins.pinOnFirstUse('evm', OTHER));
  t.ok(pins.pinOnFirstUse('stark', STARK), 'the other type has a pin of its own');
  t.same(pins.get('evm'), { key: EVM, source: 'first use' });
});

test('a link pins in place of another key, and says which', async (t) => {
  const pins = newPins();
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
