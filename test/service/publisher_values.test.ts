import { test } from 'tap';
import { writeExactJson } from '../../src/client/index.js';
import { PRICE_MAX, PRICE_MIN } from '../../src/model/price.js';
import { FakeClock } from '../clock/fake_clock.js';
import { publisherSigner, startTestService } from './harness.js';
import { altered, latestText, latestWhen, openPublisher, refusalOf, UNIT } from './publishing.js';

const SECOND_NS = 1_000_000_000n;

test('the values of an update', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService({}, { clock });
  t.teardown(() => service.stop());
  const socket = await openPublisher(service);
  let signed = 0n;
  /**
   * Signs an update. Each update has a new second, so that the service cannot refuse it because of its time. The price is also
   * new, so that the aggregate is signed immediately.
   */
  const sign = (price = ++signed * UNIT, metadata?: object) => {
    clock.advanceMs(1_000);
    return publisherSigner(1).sign({ symbol: 'BTCUSD', price, timestampNs: clock.nowNs(), metadata });
  };

  await t.test('the price', async (t) => {
    const update = sign();
    for (const price of [
      '',
      ' ',
      '-',
      '+1',
      '0x10',
      ' 12 ',
      '12\n',
      '1e3',
      '01',
      '-01',
      '-0',
      '--1',
      '1.0',
      '1_000',
      '१२',
      'NaN',
      '9'.repeat(400),
    ])
      t.match(
        await refusalOf(socket, altered(update, { price })),
        price === '-0' ? /price|msg_hash/ : /price/,
        `"${price}"`,
      );
    for (const price of [1, null, undefined, {}, ['1'], true])
      t.match(await refusalOf(socket, altered(update, { price })), /price is not a string/);
    for (const price of [`${PRICE_MAX + 1n}`, `${PRICE_MIN - 1n}`])
      t.match(await refusalOf(socket, altered(update, { price })), /2\^127/);
    for (const price of [PRICE_MAX, PRICE_MIN, -1n, 0n, 1n]) {
      t.equal(await refusalOf(socket, sign(price)), undefined, `${price}`);
      const served = await latestWhen(service, 'BTCUSD', (aggregate) => aggregate.price === `${price}`);
      t.equal(served.signed_prices[0]!.price, `${price}`);
    }
  });

  await t.test('the timestamp', async (t) => {
    const update = sign();
    const digits = `${update.signed_price.timestamped_signature.timestamp}`;
    const wrong = [
      '',
      ' ',
      `${2n ** 63n}`,
      `${2n ** 64n + BigInt(digits)}`,
      '-1',
      `-${digits}`,
      `+${digits}`,
      `0${digits}`,
      `${digits}.0`,
      `${digits} `,
      '1.7e18',
      '0x17',
      null,
      undefined,
      true,
      {},
      [digits],
      1.7e18 + 0.5,
    ];
    for (const timestamp of wrong)
      t.match(
        (await refusalOf(socket, altered(update, { timestamp }))) ?? 'accepted',
        /timestamp/,
        `${timestamp}`,
      );
    for (const text of [
      '1.7e18',
      `${digits}.0`,
      `${digits}e0`,
      '-5',
      `${2n ** 63n}`,
      '1e400',
      '9'.repeat(400),
    ]) {
      const message = JSON.stringify({
        type: 'signed_prices',
        trace_id: 'raw',
        data: { BTCUSD: altered(update, { timestamp: '@' }) },
      }).replace('"@"', text);
      socket.send(message);
      t.match(await socket.nextJson(), { rejected: { BTCUSD: /timestamp/ } }, `${text} without quotes`);
    }
    t.match(await refusalOf(socket, altered(update, { timestamp: 0 })), /too old/);
    const ahead = altered(update, { timestamp: BigInt(digits) + 3n * SECOND_NS });
    t.match(await refusalOf(socket, ahead), /future/);
    t.equal(await refusalOf(socket, altered(update, { timestamp: digits })), undefined, 'a string of digits');
  });

  await t.test('fields that are missing or of another type', async (t) => {
    const update = sign();
    const strings = [
      'asset_id',
      'publisher_key',
      'external_asset_id',
      'signature_type',
      'msg_hash',
      'r',
      's',
    ];
    const objects = ['signed_price', 'timestamped_signature', 'signature'];
    for (const name of [...strings, ...objects])
      for (const value of [undefined, null, 5, 12345678901234567890n, true, ['x']]) {
        const changed = altered(update, { [name]: value });
        t.match((await refusalOf(socket, changed, 'BTCUSD')) ?? 'accepted', new RegExp(name));
      }
    for (const name of strings)
      t.match(await refusalOf(socket, altered(update, { [name]: {} }), 'BTCUSD'), new RegExp(name));
    for (const name of objects)
      t.match(await refusalOf(socket, altered(update, { [name]: 'x' }), 'BTCUSD'), new RegExp(name));
    for (const name of ['oracle_id', 'trigger'])
      t.match(await refusalOf(socket, altered(update, { [name]: 5 })), new RegExp(name));
    t.equal(
      await refusalOf(socket, altered(update, { oracle_id: undefined, trigger: undefined })),
      undefined,
    );
  });

  await t.test('metadata is passed on with every digit and in its order', async (t) => {
    const texts = [
      '{}',
      'null',
      '{"n":12345678901234567890,"one":1.0,"tiny":1e-400,"big":1E+400,"zero":-0}',
      '{"timestamp":1757543080505451010,"inner":{"timestamp":"1757543080505451010","x\\"timestamp":17575430805054510101}}',
      '{"b":1,"a":[null,true,{"c":[]}],"é\\u2028":"\\ud83d\\ude00"}',
      `${'{"a":'.repeat(15)}{}${'}'.repeat(15)}`,
    ];
    for (const text of texts) {
      const update = altered(sign(undefined, { here: true }), { metadata: '@' });
      const message = writeExactJson({ type: 'signed_prices', data: { BTCUSD: update } }).replace(
        '"@"',
        () => text,
      );
      socket.send(message);
      t.match(await socket.nextJson(), { accepted: ['BTCUSD'] }, text);
      const { timestamp } = update.signed_price.timestamped_signature;
      await latestWhen(service, 'BTCUSD', (aggregate) => aggregate.timestamp === timestamp);
      const served = /"metadata":(.*)\}\]\}\}\}$/s.exec(await latestText(service, 'BTCUSD'))?.[1];
      t.equal(served && withoutEscapes(served), withoutEscapes(text));
    }
    for (const metadata of [5, 'text', [], true, 1.5])
      t.match(await refusalOf(socket, altered(sign(undefined, {}), { metadata })), /metadata/);
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as object;
    t.match(await refusalOf(socket, sign(undefined, deep)), /metadata/);
    t.equal(await refusalOf(socket, sign()), undefined, 'without metadata');
    await latestWhen(service, 'BTCUSD', ({ signed_prices }) => !('metadata' in signed_prices[0]!));
  });
});

/** Returns the same JSON with unescaped characters in strings. */
function withoutEscapes(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})/g, (_escape, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
