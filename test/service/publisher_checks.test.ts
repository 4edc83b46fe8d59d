import { type Test, test } from 'tap';
import type { PriceUpdate } from '../../src/client/index.js';
import type { SignatureType } from '../../src/model/asset.js';
import { FakeClock } from '../clock/fake_clock.js';
import { publisherSigner, startTestService, type TestSocket } from './harness.js';
import { altered, latestWhen, openPublisher, refusalOf, UNIT } from './publishing.js';

/** The group orders of the two curves. */
const SECP256K1_N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const STARK_N = 0x800000000000010ffffffffffffffffb781126dcae7b2321e66a241adc64d2fn;

test('what is wrong with an update', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService(
    {
      assets: [
        { id: 1, symbol: 'BTCUSD' },
        { id: 2, symbol: 'ETHUSD' },
        { id: 3, symbol: 'DYDXUSD', signature_type: 'stark' },
      ],
      publishers: [
        { key: publisherSigner(1).publicKey },
        { key: publisherSigner(2).publicKey, assets: ['ETHUSD'] },
        { key: publisherSigner(1, 'stark').publicKey, signature_type: 'stark', oracle_id: 'tests' },
      ],
    },
    { clock },
  );
  t.teardown(() => service.stop());
  const sockets = { evm: await openPublisher(service), stark: await openPublisher(service, 'stark') };
  let signed = 0n;
  /**
   * Signs an update. Each update has a new second, so that the service cannot refuse it because of its time. The price is also
   * new, so that the aggregate is signed immediately.
   */
  const sign = (symbol: string, n = 1, type: SignatureType = 'evm'): PriceUpdate => {
    clock.advanceMs(1_000);
    signed += UNIT;
    return publisherSigner(n, type).sign({ symbol, price: signed, timestampNs: clock.nowNs() });
  };
  const evm = () => sign('BTCUSD');
  const stark = () => sign('DYDXUSD', 1, 'stark');

  await t.test('whom and what it names', async (t) => {
    const { evm: socket } = sockets;
    await refused(t, socket, sign('DOGEUSD'), /unknown asset/);
    await refused(t, socket, sign('DYDXUSD'), /takes stark signatures/);
    await refused(t, sockets.stark, evm(), /signature_type/);
    await refused(t, socket, stark(), /signature_type/);
    await refused(t, socket, altered(evm(), { signature_type: 'EVM' }), /signature_type/);
    await refused(t, socket, altered(evm(), { signature_type: 'stark' }), /signature_type/);
    t.match(await refusalOf(socket, sign('ETHUSD'), 'BTCUSD'), /asset_id/, 'under the key of another asset');
    t.match(
      await refusalOf(socket, altered(sign('ETHUSD'), { asset_id: 'BTCUSD' }), 'BTCUSD'),
      /external_asset_id/,
    );
    await refused(t, socket, altered(evm(), { external_asset_id: 'ETHUSD' }), /external_asset_id/);
    await refused(t, socket, altered(evm(), { external_asset_id: 'btcusd' }), /external_asset_id/);
    t.match(await refusalOf(socket, altered(evm(), { asset_id: '__proto__' }), 'BTCUSD'), /asset_id/);
    await refused(t, socket, sign('BTCUSD', 3), /allow-list/);
    await refused(t, socket, sign('BTCUSD', 2), /not allowed for this asset/);
    await refused(t, socket, altered(evm(), { publisher_key: '0x' }), /publisher_key/);
    await refused(t, socket, altered(evm(), { publisher_key: 'alice' }), /publisher_key/);
    await refused(t, socket, altered(evm(), { publisher_key: `0x${'11'.repeat(21)}` }), /publisher_key/);
  });

  await t.test('an EVM signature', async (t) => {
    const { evm: socket } = sockets;
    const update = evm();
    const { r, s, v } = update.signed_price.timestamped_signature.signature;
    const otherV = v === '0x1b' ? '0x1c' : '0x1b';
    const high = `0x${(SECP256K1_N - BigInt(s)).toString(16)}`;
    const zero = `0x${'0'.repeat(64)}`;
    const order = `0x${SECP256K1_N.toString(16)}`;
    const largest = `0x${'f'.repeat(64)}`;
    for (const fields of [{ s: high, v: otherV }, { s: high }])
      await refused(t, socket, altered(update, fields), /s is not low/, 'high s');
    for (const value of [zero, '0x0', order, largest]) {
      await refused(t, socket, altered(update, { r: value }), /out of range/, `r ${value}`);
      await refused(t, socket, altered(update, { s: value }), /out of range/, `s ${value}`);
    }
    for (const value of ['0x', r.slice(2), `${r}00`, '0xzz', '', ` ${r}`, '-0x1', `0X${r.slice(2)}`]) {
      await refused(t, socket, altered(update, { r: value }), /signature r/, `r "${value}"`);
      await refused(t, socket, altered(update, { s: value }), /signature s/, `s "${value}"`);
    }
    for (const value of ['0x1d', '0x1a', '0x2', '0x25', '0xff', '0x', '27', '', undefined, '0x011b'])
      await refused(t, socket, altered(update, { v: value }), /signature v/, `v "${value}"`);
    await refused(t, socket, altered(update, { v: otherV }), /signature/);
    await refused(t, socket, altered(update, { r: s, s: r }), /signature/);
    const other = evm().signed_price.timestamped_signature;
    await refused(t, socket, altered(update, { msg_hash: other.msg_hash }), /msg_hash/);
    await refused(t, socket, altered(update, { r: other.signature.r, s: other.signature.s }), /signature/);
    for (const value of ['0x', 'hash', `0x1${other.msg_hash.slice(2)}`])
      await refused(t, socket, altered(update, { msg_hash: value }), /msg_hash/);
  });

  await t.test('the forms of v, and hex in any case', async (t) => {
    const forms = [
      { v: { '0x1b': '0x1b', '0x1c': '0x1c' } },
      { v: { '0x1b': '0x0', '0x1c': '0x1' } },
      { v: { '0x1b': '0x00', '0x1c': '0x01' } },
      { v: { '0x1b': '0x1B', '0x1c': '0x1C' } },
    ];
    for (const { v: formOf } of forms) {
      const update = evm();
      const { v } = update.signed_price.timestamped_signature.signature;
      const changed = altered(update, {
        v: formOf[v as '0x1b' | '0x1c'],
        publisher_key: update.signed_price.publisher_key.toLowerCase(),
        msg_hash: `0x${update.signed_price.timestamped_signature.msg_hash.slice(2).toUpperCase()}`,
      });
      t.equal(await refusalOf(sockets.evm, changed), undefined);
      const { signed_prices } = await latestWhen(
        service,
        'BTCUSD',
        ({ timestamp }) => timestamp === changed.signed_price.timestamped_signature.timestamp,
      );
      t.same(signed_prices, [changed.signed_price], 'and are passed on as they came');
    }
  });

  await t.test('a Stark signature', async (t) => {
    const { stark: socket } = sockets;
    const update = stark();
    const signed = update.signed_price;
    const { signature, msg_hash } = signed.timestamped_signature;
    for (const value of ['0x0', `0x${STARK_N.toString(16)}`, `0x${(1n << 251n).toString(16)}`])
      await refused(t, socket, altered(update, { r: value }), /signature/, `r ${value}`);
    for (const value of ['0x0', `0x${STARK_N.toString(16)}`, `0x${'f'.repeat(64)}`])
      await refused(t, socket, altered(update, { s: value }), /signature/, `s ${value}`);
    await refused(t, socket, altered(update, { r: signature.s, s: signature.r }), /signature/);
    await refused(t, socket, altered(update, { price: `-${signed.price}` }), /negative/);
    await refused(t, socket, altered(update, { price: `${signed.price}0` }), /msg_hash/);
    await refused(
      t,
      socket,
      altered(update, { msg_hash: `${msg_hash.slice(0, -1)}${msg_hash.endsWith('0') ? 1 : 0}` }),
      /msg_hash/,
    );
    const id = signed.external_asset_id;
    for (const value of [
      `${id.slice(0, -10)}${Buffer.from('other').toString('hex')}`,
      id.slice(0, -2),
      'DYDXUSD',
      '0x',
    ])
      await refused(t, socket, altered(update, { external_asset_id: value }), /external_asset_id/, value);
    await refused(t, socket, sign('DYDXUSD', 2, 'stark'), /allow-list/);

    // Pads a text with zeros, so that the number stays the same and the text changes.
    const pad = (text: string) => `0x${text.slice(2).padStart(64, '0')}`;
    const padded = altered(update, {
      publisher_key: pad(signed.publisher_key),
      msg_hash: pad(msg_hash),
      r: pad(signature.r),
      s: pad(signature.s),
    });
    t.equal(await refusalOf(socket, padded), undefined);
    const served = await latestWhen(service, 'DYDXUSD');
    t.same(served.signed_prices, [padded.signed_price]);
  });
});

async function refused(t: Test, socket: TestSocket, update: PriceUpdate, reason: RegExp, name = `${reason}`) {
  t.match((await refusalOf(socket, update)) ?? 'accepted', reason, name);
}
