import { type Test, test } from 'tap';
import { type PriceUpdate, verifyAggregate } from '../../src/client/index.js';
import { merkleRoot } from '../../src/crypto/merkle.js';
import { parseHex, toHex } from '../../src/model/hex.js';
import { get, startTestService, type TestService } from './harness.js';
import { altered, latestText, latestWhen, openPublisher, refusalOf } from './publishing.js';
import { oracleIdOf, type Recording, readRecordings, skip } from './recordings.js';

const CONSECUTIVE = skip ? [] : readRecordings('recorded-evm.json');
const FOUR = skip ? [] : readRecordings('recorded-evm-four-publishers.json');
const STARK = skip ? [] : readRecordings('recorded-stark.json');

/** A limit above the number of updates, so that each changed update is verified, and the valid updates after them too. */
const MORE_THAN_SENT = 1_000_000;

/** Starts a service for the recorded assets and publishers. The service accepts prices from years ago. */
function recordedService(t: Test): Promise<TestService> {
  const recordings = [...CONSECUTIVE.slice(0, 1), ...FOUR, ...STARK];
  return startTestService(t, {
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
  const service = await recordedService(t);

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
