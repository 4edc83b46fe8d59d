import { type Test, test } from 'tap';
import { type PriceUpdate, verifyAggregate, verifyPayload } from '../../src/client/index.js';
import { merkleRoot } from '../../src/crypto/merkle.js';
import { parseHex, toHex } from '../../src/model/hex.js';
import { cases } from '../tier.js';
import { get, startTestService, type TestService, TestSocket } from './harness.js';
import { altered, latestText, latestWhen, openPublisher, publish, refusalOf } from './publishing.js';
import { oracleIdOf, type Recording, readRecordings, skip } from './recordings.js';

const CONSECUTIVE = skip ? [] : readRecordings('recorded-evm.json');
const FOUR = skip ? [] : readRecordings('recorded-evm-four-publishers.json');
const STARK = skip ? [] : readRecordings('recorded-stark.json');

/** A limit above the number of updates, so that each changed update is verified, and the valid updates after them too. */
const MORE_THAN_SENT = 1_000_000;

/** Starts a service for the recorded assets and publishers. The service accepts prices from years ago. */
function recordedService(): Promise<TestService> {
  const recordings = [...CONSECUTIVE.slice(0, 1), ...FOUR, ...STARK];
  return startTestService({
    service: { encoded_asset_id: 'keccak256' },
    assets: recordings.map(({ symbol, updates }, i) => ({
      id: i + 1,
      symbol,
      signature_type: updates[0]!.signed_price.signature_type,
      max_age: '36500d',
      clock_period: '50ms',
      delta_percent: 0.000001,
    })),
    publishers: recordings.flatMap(({ updates }) =>
      updates.map(({ signed_price }) => ({
        key: signed_price.publisher_key,
        signature_type: signed_price.signature_type,
        ...(signed_price.signature_type === 'stark' && { oracle_id: oracleIdOf(signed_price) }),
      })),
    ),
    ingest: { max_past: '36500d' },
    limits: { bad_signatures_per_second: MORE_THAN_SENT },
  });
}

test('recorded updates flow through a service', { skip }, async (t) => {
  const service = await recordedService();
  t.teardown(() => service.stop());

  await t.test('a recorded update with any covered byte changed is refused', async (t) => {
    const reasons = new Map<string, number>();
    for (const { updates } of [...CONSECUTIVE, ...FOUR, ...STARK])
      for (const update of updates) {
        const socket = await openPublisher(service, update.signed_price.signature_type);
        // The fast tier tries every fifth change.
        for (const changed of [...changesOf(update)].filter((_, at) => at % 5 < cases(5))) {
          const reason = await refusalOf(socket, changed);
          if (reason === undefined) t.fail('accepted', { update, changed });
          else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        }
        await socket.close();
      }
    t.comment(Object.fromEntries(reasons));
    t.ok([...reasons.values()].reduce((sum, count) => sum + count, 0) > cases(5_000));
    t.ok(reasons.has('signature is not by publisher_key over this update'));
    t.ok(reasons.has('msg_hash does not match the asset, time and price'));
    t.notOk([...reasons.keys()].some((reason) => /not verified/.test(reason)));
    t.equal(await latestText(service, 'POSITIVE_ASSET_1', 'BTCUSD', 'BTCUSDMARK'), '{"data":{}}');
  });

  await t.test('consecutive updates, with integers and strings as timestamps', async (t) => {
    const socket = await openPublisher(service);
    for (const [i, recording] of CONSECUTIVE.entries()) {
      const [update] = recording.updates;
      const { timestamp } = update!.signed_price.timestamped_signature;
      const sent = i % 2 === 0 ? update! : altered(update!, { timestamp: `${timestamp}` });
      t.equal(await refusalOf(socket, sent), undefined);
      const root = await checkServed(t, service, recording);
      t.equal(root, recording.merkleRoot, 'the recorded root');
    }
  });

  await t.test('four publishers of one asset', async (t) => {
    const [recording] = FOUR;
    const socket = await openPublisher(service);
    const [first, second] = recording!.updates;
    const borrowed = altered(first!, { publisher_key: second!.signed_price.publisher_key });
    t.match(await refusalOf(socket, borrowed), /msg_hash/, 'under the key of another publisher');
    for (const update of recording!.updates) t.equal(await refusalOf(socket, update), undefined);
    t.equal(await checkServed(t, service, recording!), rootOf(byKey(recording!.updates)));
    // The recorded aggregator ordered its publishers differently. In that order, the served inputs have the recorded Merkle root.
    t.equal(rootOf(recording!.updates), recording!.merkleRoot, 'the recorded root');
  });

  await t.test('four Stark publishers of one asset', async (t) => {
    const [recording] = STARK;
    const socket = await openPublisher(service, 'stark');
    for (const update of recording!.updates) t.equal(await refusalOf(socket, update), undefined);
    t.equal(await checkServed(t, service, recording!), rootOf(byKey(recording!.updates)));
  });

  await t.test('the same once more is refused: it is not newer', async (t) => {
    const socket = await openPublisher(service);
    const { rejected } = await publish(socket, CONSECUTIVE.at(-1)!.updates);
    t.match(rejected, { POSITIVE_ASSET_1: /not newer/ });
  });

  await t.test('payloads of both layouts verify', async (t) => {
    for (const [attributes, layout] of [
      ['', 'simplified'],
      ['&addtl_attrs=ms', 'versioned'],
    ]) {
      const socket = await TestSocket.open(
        `${service.socketUrl}/ws?channel=10ms&message_type=signed_ecdsa${attributes}`,
      );
      socket.send({ type: 'subscribe', assets: [3, 1, 2] });
      const { p } = (await socket.nextJson()) as { p: string };
      const report = verifyPayload(p, { signers: [service.evmAddress], taxonomyId: 1 });
      t.equal(report.verdict, 'verified', JSON.stringify(report.checks));
      t.equal(report.payload?.layout, layout);
      t.match(report.payload?.assets, [
        { id: 1, value: BigInt(CONSECUTIVE.at(-1)!.updates[0]!.signed_price.price) },
        { id: 2, value: 105_753_153_499_499_996_000_000n },
        { id: 3, value: 105_897_536_209_874_990_000_000n },
      ]);
      await socket.close();
    }
  });
});

test('the golden payload verifies', async (t) => {
  const { verdict, payload } = verifyPayload(
    '0x690a1cce3cf72e889b699ef800fb80ba47c123ce7422517bfcd2ce0c701423a12938fb6fcf4424c21e39688cd41dd8919b149642b590328ada7532c88b5f0d6b010001187f4dcc627041f8000100000000000000056bc75e2d63100000',
    { signers: ['0xc4a02e7d370402f4afc36032076b05e74ff81786'], taxonomyId: 1 },
  );
  t.equal(verdict, 'verified');
  t.match(payload, { layout: 'simplified', assets: [{ id: 1, value: 100n * 10n ** 18n }] });
});

/**
 * Compares the answers of REST with the recording, and verifies the recording independently. @returns the served Merkle root
 */
async function checkServed(t: Test, service: TestService, recording: Recording): Promise<string> {
  const { symbol, updates, encodedAssetId } = recording;
  const served = await latestWhen(
    service,
    symbol,
    ({ signed_prices }) =>
      JSON.stringify(signed_prices.map(({ timestamped_signature }) => timestamped_signature.msg_hash)) ===
      JSON.stringify(byKey(updates).map(({ signed_price }) => signed_price.timestamped_signature.msg_hash)),
  );
  t.same(
    served.signed_prices,
    byKey(updates).map(({ signed_price }) => signed_price),
    "the publishers' strings are unchanged",
  );
  if (encodedAssetId !== undefined) t.equal(served.service_signed_price.encoded_asset_id, encodedAssetId);
  const algorithms = (await (await get(`${service.url}/v1/algorithms`)).json()) as {
    data: { type: string; definition: string }[];
  };
  const isEvm = served.signature_type === 'evm';
  const [report] = verifyAggregate(await latestText(service, symbol), {
    signers: [isEvm ? service.evmAddress : served.service_signed_price.public_key],
    oracleId: 'servc',
    algorithmText: algorithms.data.find(({ type }) => type === 'median')!.definition,
  });
  t.equal(
    report!.verdict,
    'verified',
    JSON.stringify(report!.checks.filter(({ status }) => status === 'failed')),
  );
  t.notOk(report!.checks.some(({ status }) => status === 'skipped'));
  return served.service_signed_price.publisher_merkle_root;
}

function byKey(updates: readonly PriceUpdate[]): PriceUpdate[] {
  const key = ({ signed_price }: PriceUpdate) => BigInt(signed_price.publisher_key);
  return [...updates].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function rootOf(updates: readonly PriceUpdate[]): string {
  const leaves = updates.map(
    ({ signed_price }) => parseHex(signed_price.timestamped_signature.msg_hash, 32)!,
  );
  return toHex(merkleRoot(leaves));
}

/** Yields the update with a changed byte, for each byte that the signature covers and for each byte of the signature. */
function* changesOf(update: PriceUpdate): Generator<PriceUpdate> {
  const { publisher_key, external_asset_id, price, timestamped_signature } = update.signed_price;
  const { msg_hash, timestamp, signature } = timestamped_signature;
  const hex = { publisher_key, msg_hash, ...signature };
  for (const [name, text] of Object.entries(hex))
    for (let at = 2; at < text.length; at += 2)
      yield altered(update, { [name]: withOtherDigit(text, at, 16) });
  for (let at = 2; at < external_asset_id.length; at++)
    yield altered(update, { external_asset_id: withOtherDigit(external_asset_id, at, 16) });
  for (let at = 0; at < price.length; at++) yield altered(update, { price: withOtherDigit(price, at, 10) });
  // The nine digits of the nanoseconds stay, because the signature covers only whole seconds.
  const digits = `${timestamp}`;
  for (let at = 0; at < digits.length - 9; at++)
    yield altered(update, { timestamp: withOtherDigit(digits, at, 10) });
  if (signature.v !== undefined) yield altered(update, { v: signature.v === '0x1b' ? '0x1c' : '0x1b' });
}

/** Replaces a digit with the next digit, or another character with a digit. */
function withOtherDigit(text: string, at: number, base: 10 | 16): string {
  const digit = Number.parseInt(text[at]!, base);
  const other = Number.isNaN(digit) ? '0' : ((digit + 1) % base).toString(base);
  return text.slice(0, at) + other + text.slice(at + 1);
}
