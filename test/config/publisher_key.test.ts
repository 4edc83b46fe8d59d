import fc from 'fast-check';
import { test } from 'tap';
import { canonicalKey, parsePublisherKey } from '../../src/config/publisher_key.js';
import { EVM_PUBLISHER_KEY, STARK_PUBLISHER_KEY } from './sample.js';

test('publisher keys become bytes of the size of their type', async (t) => {
  t.equal(
    parsePublisherKey(EVM_PUBLISHER_KEY, 'evm')?.toString('hex'),
    EVM_PUBLISHER_KEY.slice(2).toLowerCase(),
  );
  const stark = parsePublisherKey(STARK_PUBLISHER_KEY, 'stark');
  t.equal(stark?.length, 32);
  t.equal(stark && canonicalKey(stark), STARK_PUBLISHER_KEY);
  t.equal(parsePublisherKey(STARK_PUBLISHER_KEY, 'evm'), undefined);
});

test('texts of one number have one canonical text', async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 251n }), fc.nat(3), fc.boolean(), (value, zeros, upper) => {
      const digits = '0'.repeat(zeros) + value.toString(16);
      fc.pre(digits.length <= 64);
      const key = parsePublisherKey(`0x${upper ? digits.toUpperCase() : digits}`, 'stark');
      return key !== undefined && canonicalKey(key) === `0x${value.toString(16)}`;
    }),
  );
  t.pass();
});
