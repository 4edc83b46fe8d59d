import { test } from 'tap';
import {
  FORM,
  METADATA_DEPTH_MAX,
  METADATA_LENGTH_MAX,
  METADATA_VALUES_MAX,
  type RawUpdate,
  readPublishMessage,
} from '../../src/prices/message.js';
import { messageText, type UpdateObject, updateObject } from './updates.js';

const NS = '1710191092123456789';

function readOne(
  change: (update: UpdateObject) => void,
  rewrite = (text: string) => text,
): RawUpdate | string {
  const update = updateObject('BTCUSD');
  change(update);
  const message = readPublishMessage(rewrite(messageText({ BTCUSD: update })), 10);
  if (!message.ok) return message.error;
  return message.updates[0] ?? message.malformed.get('BTCUSD')!;
}

function timestampOf(written: string): string {
  const read = readOne((update) => {
    update.signed_price.timestamped_signature.timestamp = written;
  });
  return typeof read === 'string' ? read : read.timestamp;
}

function metadataOf(json: string): string | undefined {
  const read = readOne(
    (update) => {
      update.signed_price.metadata = '@';
    },
    (text) => text.replace('"@"', () => json),
  );
  return typeof read === 'string' ? read : read.metadata;
}

test('every text of an update comes out as it went in', async (t) => {
  const read = readOne(() => {});
  t.same(read, {
    symbol: 'BTCUSD',
    assetId: 'BTCUSD',
    publisherKey: `0x${'01'.repeat(20)}`,
    externalAssetId: 'BTCUSD',
    signatureType: 'evm',
    price: '72147681412670819000000',
    timestamp: '1772460000000000001',
    r: '0x11',
    s: '0x22',
    v: '0x1b',
    msgHash: '0x33',
    metadata: undefined,
  });
});

test('a timestamp keeps its digits as an integer and as a string', async (t) => {
  for (const digits of [NS, '9007199254740993', '0', '-5', '9'.repeat(30)]) {
    t.equal(timestampOf(digits), digits);
    t.equal(timestampOf(`#${digits}`), digits);
  }
  for (const written of ['1.5', '1e400', '17e17', '-0', '1.0', '1E2'])
    t.equal(timestampOf(`#${written}`), written);
  for (const written of ['null', 'true', '[1]', '{}']) {
    t.equal(timestampOf(`#${written}`), `timestamp is not an integer of nanoseconds${FORM}`);
  }
  for (const written of ['01', '-01', '1.', '.5', '+1', '0x1'])
    t.equal(timestampOf(`#${written}`), `the message is not JSON${FORM}`, written);
});

test('metadata keeps every digit and its own timestamps', async (t) => {
  const kept = [
    '{}',
    'null',
    '{"a":123456789012345678901234567890}',
    '{"a":1e400,"b":1.10,"c":-0,"d":0.1000000000000000055511151231257827}',
    '{"timestamp":1710191092123456789}',
    '{"a":[{"timestamp":1710191092123456789},{"timestamp":"1"}]}',
    '{"x\\"timestamp":1710191092123456789}',
    '{"__proto__":{"a":1},"b":2}',
    '{"constructor":{"prototype":{"polluted":1}},"toString":1,"toJSON":1}',
    '{"text":"\\ud800","n":1}',
  ];
  for (const json of kept) t.equal(metadataOf(json), json);
  t.equal(metadataOf(' { "a" : [ 1 , 2 ] } '), '{"a":[1,2]}');
  t.equal(({} as Record<string, unknown>)['polluted'], undefined);
  for (const json of ['[]', '[{}]', '5', '"a"', 'true', '1e999'])
    t.equal(metadataOf(json), `metadata is not an object${FORM}`, json);
});

test('metadata keeps its keys, whatever keys came before', async (t) => {
  // JSON.parse of Node 24 returns the first text's key for the second text.
  t.equal(metadataOf('{"h":[],"\\\\":"0"}'), '{"h":[],"\\\\":"0"}');
  t.equal(metadataOf('{"h":"1","\\"":"2"}'), '{"h":"1","\\"":"2"}');
});

test('metadata may nest so deep and no deeper', async (t) => {
  const nested = (depth: number, leaf: string) => '{"a":'.repeat(depth) + leaf + '}'.repeat(depth);
  for (const leaf of ['1', '"x"']) {
    t.equal(metadataOf(nested(METADATA_DEPTH_MAX, leaf)), nested(METADATA_DEPTH_MAX, leaf));
    t.equal(
      metadataOf(nested(METADATA_DEPTH_MAX + 1, leaf)),
      `metadata nests deeper than ${METADATA_DEPTH_MAX}${FORM}`,
    );
  }
});

test('metadata holds values and characters up to its limits and no more', async (t) => {
  const values = (count: number, value: string) => `{"a":[${new Array(count - 1).fill(value).join()}]}`;
  for (const value of ['1', '"x"']) {
    t.equal(metadataOf(values(METADATA_VALUES_MAX, value)), values(METADATA_VALUES_MAX, value));
    const error = `metadata holds more than ${METADATA_VALUES_MAX} values${FORM}`;
    t.equal(metadataOf(values(METADATA_VALUES_MAX + 1, value)), error);
  }
  for (const end of ['"}', '","n":1}']) {
    const text = (length: number) => `{"a":"${'x'.repeat(length - 6 - end.length)}${end}`;
    t.equal(metadataOf(text(METADATA_LENGTH_MAX)), text(METADATA_LENGTH_MAX));
    const error = `metadata is longer than ${METADATA_LENGTH_MAX} characters${FORM}`;
    t.equal(metadataOf(text(METADATA_LENGTH_MAX + 1)), error);
  }
});

test('a key with two values is refused wherever it stands, and named', async (t) => {
  const twice = (find: string, replace: string) =>
    readOne(
      () => {},
      (text) => text.replace(find, replace),
    );
  const expected = 'the message is not JSON: the key "price" comes twice in one object';
  t.equal(twice('"price":', '"price":"1","price":'), expected);
  t.equal(twice('"price":', '"price":"1","pr\\u0069ce" :'), expected, 'with escapes and spaces');
  t.match(twice('"BTCUSD":', '"BTCUSD":{},"BTCUSD":'), /"BTCUSD" comes twice/);
  t.match(twice('"type":', '"type":1,"type":'), /"type" comes twice/);
  t.match(twice('"price":', '"x":{"y":[{"z":1,"z":2}]},"price":'), /"z" comes twice/, 'in what nobody reads');
  t.match(metadataOf('{"a":1,"b":3,"a":2}'), /"a" comes twice/);
  t.equal(metadataOf('{"a":1,"b":3,"a":1}'), '{"a":1,"b":3}', 'twice the same harms nobody');
  t.equal(metadataOf('{"a":"b:c \\":\\" d"}'), '{"a":"b:c \\":\\" d"}', 'colons in strings are no keys');
});

test('each wrong shape names its field and harms no other update', async (t) => {
  const wrong: [string, (update: UpdateObject) => void][] = [
    ['asset_id is not a string', (u) => delete u.asset_id],
    ['publisher_key is not a string', (u) => (u.signed_price.publisher_key = '#1e400')],
    ['signature_type is not a string', (u) => delete u.signed_price.signature_type],
    ['price is not a string', (u) => (u.signed_price.price = '#72147681412670819000000')],
    ['msg_hash is not a string', (u) => (u.signed_price.timestamped_signature.msg_hash = false)],
    ['signature v is not a string', (u) => (u.signed_price.timestamped_signature.signature.v = null)],
    [
      'timestamp is not an integer of nanoseconds',
      (u) => delete u.signed_price.timestamped_signature.timestamp,
    ],
    ['metadata is not an object', (u) => (u.signed_price.metadata = 'x')],
    ['signature is not an object', (u) => (u.signed_price.timestamped_signature.signature = [] as never)],
    ['signed_price is not an object', (u) => (u.signed_price = '#1' as never)],
  ];
  for (const [reason, change] of wrong) {
    const bad = updateObject('ETHUSD');
    change(bad);
    // A number in the metadata of a valid update makes the other parser read the whole message.
    for (const metadata of [undefined, { n: '#12345678901234567890' }]) {
      const good = updateObject('BTCUSD');
      good.signed_price.metadata = metadata;
      const message = readPublishMessage(messageText({ ETHUSD: bad, BTCUSD: good }), 10);
      if (!message.ok) return t.fail(message.error);
      t.same([...message.malformed], [['ETHUSD', reason + FORM]]);
      t.same(
        message.updates.map(({ symbol }) => symbol),
        ['BTCUSD'],
      );
    }
  }
  for (const update of ['x', null, []]) {
    const message = readPublishMessage(messageText({ ETHUSD: update }), 10);
    t.same(message.ok && [...message.malformed], [['ETHUSD', `the update is not an object${FORM}`]]);
  }
});

test('a wrong envelope is refused as a whole, with its trace_id when that can be read', async (t) => {
  const refusal = (text: string) => {
    const message = readPublishMessage(text, 2);
    return message.ok ? 'accepted' : [message.traceId, message.error];
  };
  for (const text of ['', '{"a":1}}', '\ufeff{}'])
    t.same(refusal(text), [undefined, `the message is not JSON${FORM}`], text);
  for (const text of ['[]', 'null'])
    t.same(refusal(text), [undefined, `the message is not a JSON object${FORM}`], text);
  t.same(refusal(messageText({}, { trace_id: 'a' })), ['a', `type is not "signed_prices"${FORM}`]);
  for (const data of [null, [], undefined])
    t.same(refusal(messageText(data)), ['t1', `data is not an object of symbol to update${FORM}`]);
  t.equal(refusal(messageText({ a: updateObject('a'), b: updateObject('b') })), 'accepted');
  t.same(refusal(messageText({ a: 1, b: 2, c: 3 })), [
    't1',
    'data holds 3 updates, updates_per_message is 2',
  ]);
  t.equal(refusal(messageText({}, { type: 'signed_prices', trace_id: null })), 'accepted');
});

test('a wrong trace_id is a fault of that field only', async (t) => {
  const faultOf = (traceId: unknown) => {
    const text = messageText({ a: updateObject('a') }, { type: 'signed_prices', trace_id: traceId });
    const message = readPublishMessage(text, 2);
    return message.ok && [message.updates.length, message.traceId, message.fault];
  };
  t.same(faultOf(5), [1, undefined, 'trace_id is not a string']);
  t.same(faultOf('x'.repeat(257)), [1, undefined, 'trace_id is longer than 256 characters']);
  t.same(faultOf('x'.repeat(256)), [1, 'x'.repeat(256), undefined]);
});
