import { test } from 'tap';
import {
  createPriceSigner,
  parseSecretKey,
  publishMessage,
  signPrice,
} from '../../../src/client/sign/sign_price.js';
import { parseExactJson, writeExactJson } from '../../../src/client/verify/exact_json.js';
import { PRICE_MAX } from '../../../src/model/price.js';

const EVM = {
  signatureType: 'evm',
  secretKey: parseSecretKey('0x8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de')!,
  oracleId: 'czowx',
} as const;
const STARK = {
  signatureType: 'stark',
  secretKey: parseSecretKey('0x66253bdeb3c1a235cf4376611e3a14474e2c00fd2fb225f9a388faae7fb095a')!,
  oracleId: 'czowx',
} as const;

test('an EVM price is signed as real publishers sign it', async (t) => {
  const update = signPrice({
    ...EVM,
    symbol: 'BTCUSDMARK',
    timestampNs: 1710191092123456789n,
    price: 72147681412670819000000n,
    trigger: 'clock',
    metadata: { venue: 'x', depth: 1.5 },
  });
  t.same(update, {
    oracle_id: 'czowx',
    asset_id: 'BTCUSDMARK',
    trigger: 'clock',
    signed_price: {
      publisher_key: '0x99e295e85cb07C16B7BB62A44dF532A7F2620237',
      external_asset_id: 'BTCUSDMARK',
      signature_type: 'evm',
      price: '72147681412670819000000',
      timestamped_signature: {
        signature: {
          r: '0x14e378dcf486b15c157fb6af80fc275b895bd1cae818fc4597a6b4a1571a831e',
          s: '0x79b4823a159988c04576ff71bc3ca168a631ac666094b0f4157e59b2892f6490',
          v: '0x1b',
        },
        timestamp: 1710191092123456789n,
        msg_hash: '0x4a8e2a9c736a3a2e315facf28ba95e126e37b57646481078e4f0809262c6560b',
      },
      metadata: { venue: 'x', depth: 1.5 },
    },
  });
});

test('a Stark price is signed as real publishers sign it', async (t) => {
  const timestampNs = 1708940577123456789n;
  const update = signPrice({ ...STARK, symbol: 'DYDXUSD', timestampNs, price: 3335950349880000000n });
  t.same(update, {
    oracle_id: 'czowx',
    asset_id: 'DYDXUSD',
    trigger: 'unspecified',
    signed_price: {
      publisher_key: '0x418d3fd8219a2cf32a00d458f61802d17f01c5bcde5a4f82008ee4a7c8e9a06',
      external_asset_id: '0x44594458555344000000000000000000637a6f7778',
      signature_type: 'stark',
      price: '3335950349880000000',
      timestamped_signature: {
        signature: {
          r: '0x60bbbb4142bca69a5278ecccb59964e3449e43915b02e5c729b9752a16309ac',
          s: '0x4cdbe54b985f6fb4495398f94554883ead7cbb983597dc7ea8b9e32dfe95c27',
        },
        timestamp: timestampNs,
        msg_hash: '0x7cc1cf795d076cfff8b5920adb2dcc0d13813ed4519220a36d693e6084abe1c',
      },
    },
  });
});

test('a publish message carries every digit of the timestamp', async (t) => {
  const sign = createPriceSigner(EVM).sign;
  const updates = ['BTCUSD', 'ETHUSD'].map((symbol) =>
    sign({ symbol, price: -5n, timestampNs: 1757543080505451010n }),
  );
  const text = publishMessage('trace-1', updates);
  t.match(text, /"timestamp":1757543080505451010,/);
  const message = parseExactJson(text) as { data: object };
  t.same(message, {
    type: 'signed_prices',
    trace_id: 'trace-1',
    data: { BTCUSD: updates[0], ETHUSD: updates[1] },
  });
  t.equal(writeExactJson(message), text);
  t.throws(() => publishMessage('trace-1', [updates[0]!, updates[0]!]), RangeError);
});

test('what cannot be signed is refused', async (t) => {
  const timestampNs = 1n;
  t.throws(() => signPrice({ ...EVM, symbol: 'A', price: PRICE_MAX + 1n, timestampNs }), RangeError);
  t.throws(() => signPrice({ ...EVM, symbol: 'A', price: 1n, timestampNs: -1n }), RangeError);
  t.throws(() => signPrice({ ...EVM, oracleId: 'long id', symbol: 'A', price: 1n, timestampNs }), RangeError);
  t.throws(() => signPrice({ ...STARK, symbol: 'A', price: -1n, timestampNs }), RangeError);
  t.throws(() => signPrice({ ...STARK, symbol: 'A'.repeat(27), price: 1n, timestampNs }), RangeError);
  for (const text of ['', '0x', 'no hex', '0x0', `0x${'1'.repeat(65)}`])
    t.equal(parseSecretKey(text), undefined, text);
  t.same(parseSecretKey('0x01'), parseSecretKey('1'.padStart(64, '0')));
});
