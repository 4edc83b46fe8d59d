import fc from 'fast-check';
import { test } from 'tap';
import {
  fieldNumber,
  starkAssetHex,
  starkExternalAssetId,
  starkPriceMessage,
} from '../../../src/crypto/stark/stark.js';
import { PRICE_MAX, type Price } from '../../../src/model/price.js';
import type { TimeNs } from '../../../src/model/time.js';

const TIME = 1708940577123456789n as TimeNs;

test('external asset IDs: a real one, the shortest, the longest', async (t) => {
  t.equal(starkAssetHex('DYDXUSD'), '44594458555344000000000000000000');
  t.equal(starkExternalAssetId('DYDXUSD', 'czowx'), '0x44594458555344000000000000000000637a6f7778');
  t.equal(starkAssetHex('0123456789abcdefg'), Buffer.from('0123456789abcdefg').toString('hex'));
  t.equal(starkExternalAssetId('A'.repeat(26), 'czowx'), `0x${'41'.repeat(26)}637a6f7778`);
  t.equal(starkExternalAssetId('A'.repeat(27), 'czowx'), undefined, 'no field element');
});

test('symbols and oracle IDs that have no Stark form', async (t) => {
  t.equal(starkAssetHex(''), undefined);
  t.equal(starkAssetHex('EÜR'), undefined);
  t.equal(starkExternalAssetId('BTCUSD', 'czow'), undefined);
  t.equal(starkExternalAssetId('BTCUSD', 'czowxy'), undefined);
  t.equal(starkExternalAssetId('BTCUSD', 'czöwx'), undefined);
});

test('messages: x is the external asset ID, y the price above the second', async (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: PRICE_MAX }),
      fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      (price, time) => {
        const message = starkPriceMessage('DYDXUSD', 'czowx', time as TimeNs, price as Price)!;
        t.equal(fieldNumber(message.x), 0x44594458555344000000000000000000637a6f7778n);
        t.equal(fieldNumber(message.y), price * 2n ** 32n + time / 1_000_000_000n);
      },
    ),
  );
});

test('a negative price has no Stark message', async (t) => {
  t.ok(starkPriceMessage('DYDXUSD', 'czowx', TIME, 0n as Price));
  t.equal(starkPriceMessage('DYDXUSD', 'czowx', TIME, -1n as Price), undefined);
  t.equal(starkPriceMessage('A'.repeat(27), 'czowx', TIME, 1n as Price), undefined);
});
