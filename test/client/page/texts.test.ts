import { test } from 'tap';
import { parseDecimalPrice } from '../../../src/client/index.js';
import { faultOf, isOtherSigner } from '../../../src/client/page/frame_fault.js';
import { exactPrice, shownDecimals, shownPrice, titleText } from '../../../src/client/page/price_text.js';

test('prices in the table have six digits, at least two of them decimals; the proof has all', async (t) => {
  const cases = [
    ['95123.456789', '95,123.45', '95,123.456789'],
    ['1234567.8', '1,234,567.80', '1,234,567.80'],
    ['190.5', '190.500', '190.500'],
    ['1.080195', '1.08019', '1.080195'],
    ['0.32', '0.320000', '0.320000'],
    ['0.000012345678', '0.0000123456', '0.000012345678'],
    ['-37.5', '−37.5000', '−37.5000'],
    ['-123456.5', '−123,456.50', '−123,456.50'],
    ['0', '0.000000000000000000', '0.000000000000000000'],
    ['100000000000000000000', '100,000,000,000,000,000,000.00', '100,000,000,000,000,000,000.00'],
  ] as const;
  for (const [text, shown, exact] of cases) {
    const price = parseDecimalPrice(text)!;
    t.equal(shownPrice(price, shownDecimals(price)), shown);
    t.equal(exactPrice(price), exact);
  }
  t.equal(titleText('BTCUSD', parseDecimalPrice('95028.769'), 'verified'), '95,028.76 BTCUSD · verified');
  t.equal(titleText('BTCUSD', undefined, 'failed its check'), 'BTCUSD · failed its check');
});

test('a frame of the key that the service names is not a forged one', async (t) => {
  const signer = `0x${'Ab'.repeat(20)}`;
  const other = { name: 'signer', status: 'failed', reason: 'signed by another' } as const;
  const broken = { name: 'length', status: 'failed', reason: 'too short' } as const;
  const report = { verdict: 'failed', checks: [{ name: 'form', status: 'ok' }, other], signer } as const;
  t.equal(faultOf(report, signer.toLowerCase()).seal, 'not pinned');
  t.match(faultOf(report, `0x${'00'.repeat(20)}`), { seal: 'failed', reason: 'signer: signed by another' });
  t.equal(faultOf({ ...report, checks: [other, broken] }, signer).seal, 'failed');
  t.notOk(isOtherSigner({ checks: [broken] }));
});
