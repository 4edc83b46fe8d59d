import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { test } from 'tap';
import { createHeldBytes } from '../../scripts/load/held_memory.js';
import { Updates } from '../../scripts/load/updates.js';
import { createPriceSigner, publishMessage } from '../../src/client/index.js';
import { Gate } from '../../src/ingest/gate.js';
import { type ReadMessage, readAnyMessage } from '../../src/ingest/message.js';
import { readUsualMessage } from '../../src/ingest/usual_message.js';
import { FakeClock } from '../clock/fake_clock.js';
import { sampleAsset, samplePublisher } from '../model/sample.js';
import { readRecordings, skip } from '../service/recordings.js';
import { cases } from '../tier.js';
import { messageText, updateObject } from './updates.js';

const LIMITS = { updatesMax: 4, traceIdLengthMax: 8 };

/** Returns whether the scanner leaves a text to the general reader, or reads the same as the general reader. */
function isReadRight(text: string, limits = LIMITS): boolean {
  const usual = readUsualMessage(text, limits);
  return usual === undefined || isDeepStrictEqual(usual, readAnyMessage(text, limits));
}

/** Returns whether the scanner reads a text itself, and reads the same as the general reader. */
function isRead(text: string, limits = LIMITS): boolean {
  const usual = readUsualMessage(text, limits);
  return usual !== undefined && isDeepStrictEqual(usual, readAnyMessage(text, limits));
}

test('a text of any length fits the bytes of the scanner', async (t) => {
  // The scanner starts with 16 KiB, so this test is the first.
  const short = messageText({ BTCUSD: updateObject('BTCUSD') }, { type: 'signed_prices', trace_id: 'éé' });
  for (let length = 16 * 1024 - 20; length < 16 * 1024 + 20; length++)
    t.equal(readUsualMessage(short.padEnd(length), LIMITS), undefined, `${length}`);
});

test('the scanner reads messages of publishers, compact and with white space', async (t) => {
  const limits = { updatesMax: 50, traceIdLengthMax: 256 };
  const signers = (['evm', 'stark'] as const).map((signatureType) =>
    createPriceSigner({ signatureType, secretKey: new Uint8Array(32).fill(1), oracleId: 'tests' }),
  );
  const price = { symbol: '1INCHUSD', price: -(10n ** 18n), timestampNs: 1_710_191_092_123_456_789n };
  const texts = [
    ...(['evm', 'stark'] as const).map((type) => new Updates(type).message(0, [0, 1, 2, 3])),
    new Updates('evm').message(
      0,
      Array.from({ length: 50 }, (_, asset) => asset),
    ),
    publishMessage('2025-01-01T00:00:00Z', [signers[0]!.sign(price)]),
    publishMessage('a', [signers[1]!.sign({ ...price, price: 5n, trigger: 'one, two' })]),
  ];
  for (const text of texts) {
    t.ok(isRead(text, limits), text);
    const digits = text.replace(/"timestamp":(\d+)/g, '"timestamp":"#$1"');
    for (const space of [1, 4, '\t'])
      t.ok(isRead(JSON.stringify(JSON.parse(digits), undefined, space).replace(/"#(\d+)"/g, '$1'), limits));
    t.ok(isRead(` ${text.replaceAll(':"', ' : "').replaceAll(',"', '\r\n,\t"')}\n`, limits));
  }
});

test('the scanner reads the recorded updates', { skip }, async (t) => {
  for (const name of ['recorded-evm.json', 'recorded-evm-four-publishers.json', 'recorded-stark.json'])
    for (const { updates } of readRecordings(name))
      for (const update of updates) t.ok(isRead(publishMessage('t', [update])), name);
});

test('the scanner leaves all other shapes to the general reader', async (t) => {
  const usual = messageText({ BTCUSD: updateObject('BTCUSD'), ETHUSD: updateObject('ETHUSD') });
  t.ok(isRead(usual));
  const changes: Readonly<Record<string, [found: string | RegExp, replacement: string]>> = {
    'an escape': ['"clock"', '"clo\\u0063k"'],
    'an escape in a key': ['"trigger"', '"tr\\u0069gger"'],
    'a control character': ['"clock"', '"clo\tck"'],
    'an unknown key': ['"trigger"', '"triggers"'],
    metadata: ['"signature_type"', '"metadata":{},"signature_type"'],
    'a missing key': ['"price":"72147681412670819000000",', ''],
    'a key twice': ['"trigger":"clock"', '"trigger":"clock","trigger":"clock"'],
    'a symbol twice': ['"ETHUSD":', '"BTCUSD":'],
    'a symbol that is an integer': ['"ETHUSD":', '"7":'],
    'the name of the prototype': ['"ETHUSD":', '"__proto__":'],
    'a trace ID that is null': ['"t1"', 'null'],
    'another type': ['signed_prices', 'signed_price'],
    'a character that is not ASCII': ['"t1"', '"t\u00e9"'],
    'a character whose low byte is a quotation mark': ['"t1"', '"t\u0122'],
    'a space that JSON does not know': [',"data"', ',\u00a0"data"'],
    'a number that is negative': ['"1772460000000000001"', '-5'],
    'a number with leading zeros': ['"1772460000000000001"', '05'],
    'a number with an exponent': ['"1772460000000000001"', '1e5'],
    'a number without digits': ['"1772460000000000001"', ''],
    'two values': [/$/, '{}'],
    'no last brace': [/\}$/, ''],
    'a comma at the end': [/\}$/, ',}'],
    'no comma': ['"t1",', '"t1"'],
    'no colon': ['"trace_id":', '"trace_id"'],
    'a list': [/^(.*)$/, '[$1]'],
  };
  for (const [name, [found, replacement]] of Object.entries(changes)) {
    const text = usual.replace(found, replacement);
    t.not(text, usual, name);
    t.equal(readUsualMessage(text, LIMITS), undefined, name);
  }
  t.equal(readUsualMessage(messageText({}), LIMITS), undefined, 'no update');
  t.equal(readUsualMessage('', LIMITS), undefined, 'no text');
  const { updatesMax, ...others } = LIMITS;
  t.equal(readUsualMessage(usual, { ...others, updatesMax: 1 }), undefined, 'too many updates');
});

test('the limits of long texts are those of the general reader', async (t) => {
  const limits = { updatesMax: 4, traceIdLengthMax: 1_000_000 };
  const textOf = (traceId: string, trigger: string, spaces: number) =>
    messageText(
      { BTCUSD: { ...updateObject('BTCUSD'), trigger } },
      { type: 'signed_prices', trace_id: traceId },
    ) + ' '.repeat(spaces);
  for (const traceId of ['', ':', ' :', 'a:', ',', '{'])
    for (const odd of ['', 'a', ',', '{', '[', ':'])
      for (const count of [1, 10, 3_000, 3_900, 4_010, 20_000])
        for (const spaces of [0, 17_000, 140_000, 1_100_000]) {
          const text = textOf(traceId, odd.repeat(count), spaces);
          if (!isReadRight(text, limits)) t.fail(`${traceId} ${odd} ${count} ${spaces}`);
        }
  t.ok(isRead(textOf('x'.repeat(500_000), 'a:b', 17_000), limits));
  t.match(readUsualMessage(textOf('123456789', '', 0), LIMITS), { traceId: undefined, fault: /8 char/ });
});

const space = fc.oneof(
  { weight: 20, arbitrary: fc.constant('') },
  { weight: 5, arbitrary: fc.constantFrom(' ', '\n  ', '\t', '\r\n') },
);
/** The characters between the quotation marks of a string. */
const plain = fc.oneof(
  fc.constantFrom('', 'evm', '0x00ff', ':', ' :', 'a:b', 'x,{[', "'", 'timestamp', '-0', '\u007f'),
  fc.string({ unit: 'grapheme-ascii', maxLength: 20 }).map((text) => text.replace(/["\\]/g, '')),
);
const foreign = fc.constantFrom(
  '\\"',
  '\\u0041',
  '\\',
  '\u0000',
  '\n',
  '\u00e9',
  '\u0122',
  '\ud800',
  '"',
  '","r":"',
);
const digits = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 70n }).map(String),
  fc.constantFrom('0', '9'.repeat(60)),
);
const foreignValue = fc.constantFrom('-0', '01', '1e5', '1.0', '-7', 'null', '[]', '{}', '1 2', '');
const foreignKey = fc.constantFrom(
  'r',
  'timestamp',
  'x',
  'metadata',
  '__proto__',
  'pric',
  'price2',
  '12',
  'A',
);

/**
 * Generates messages.
 * @param isUsual false for messages that may also have other keys, strings and values
 */
function messages(isUsual: boolean): fc.Arbitrary<string> {
  const rarely = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>) =>
    isUsual ? usual : fc.oneof({ weight: 60, arbitrary: usual }, { weight: 1, arbitrary: other });
  const text = rarely(plain, foreign).map((content) => `"${content}"`);
  const string = rarely(text, foreignValue);
  const entry = (key: string, value: fc.Arbitrary<string>) =>
    fc
      .tuple(space, rarely(fc.constant(key), foreignKey), space, space, value, space)
      .map(([a, name, b, c, content, d]) => `${a}"${name}"${b}:${c}${content}${d}`);
  const object = (required: fc.Arbitrary<string>[], optional: fc.Arbitrary<string>[] = []) =>
    fc
      .tuple(fc.tuple(...required), fc.tuple(...optional), fc.infiniteStream(fc.nat(999)), fc.nat(1))
      .map(([all, some, random, isShuffled]) => {
        const kept = some.filter(() => random.next().value! % 2 === 0);
        const entries = [...all, ...kept].map((content) => ({ content, rank: random.next().value! }));
        if (isShuffled === 1) entries.sort((a, b) => a.rank - b.rank);
        return `{${entries.map(({ content }) => content).join()}}`;
      });
  const signature = object([entry('r', string), entry('s', string)], [entry('v', string)]);
  const stamped = object([
    entry('signature', signature),
    entry('timestamp', rarely(fc.oneof(digits, text), foreignValue)),
    entry('msg_hash', string),
  ]);
  const signed = object(
    ['publisher_key', 'external_asset_id', 'signature_type', 'price']
      .map((key) => entry(key, string))
      .concat(entry('timestamped_signature', stamped)),
  );
  const update = object(
    [entry('asset_id', string), entry('signed_price', signed)],
    [entry('oracle_id', string), entry('trigger', string)],
  );
  const symbol = fc.constantFrom('BTCUSD', 'A', '1INCH', 'a:b', 'POSITIVE_ASSET_1', '', 'constructor', ' :');
  const data = fc
    .uniqueArray(symbol, { minLength: 1, maxLength: LIMITS.updatesMax })
    .chain((symbols) => object(symbols.map((name) => entry(name, update))));
  return fc
    .tuple(
      object(
        [entry('type', rarely(fc.constant('"signed_prices"'), string)), entry('data', data)],
        [entry('trace_id', string)],
      ),
      space,
      space,
    )
    .map(([content, a, b]) => a + content + b);
}

test('the scanner reads each message of the usual shape as the general reader does', async () => {
  fc.assert(
    fc.property(messages(true), (text) => isRead(text)),
    { numRuns: cases(1_500) },
  );
});

test('the scanner reads no other message differently', async () => {
  const edits = fc.array(
    fc.tuple(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.oneof(foreign, foreignValue, fc.constantFrom('"', ':', ',', '{', '}', ' ', '0', '\\', '\u0001')),
      fc.nat(2),
    ),
    { maxLength: 2 },
  );
  fc.assert(
    fc.property(messages(false), edits, (whole, changes) => {
      const text = changes.reduce((now, [share, insert, drop]) => {
        const at = Math.floor(share * now.length);
        return now.slice(0, at) + insert + now.slice(at + drop);
      }, whole);
      return isReadRight(text);
    }),
    { numRuns: cases(10_000) },
  );
});

test('a trace ID, a symbol and the key of a publisher do not keep their message in memory', async (t) => {
  const heldBytes = createHeldBytes();
  const length = 1_000_000;
  const limits = { updatesMax: 1, traceIdLengthMax: 256 };
  const allowList = { findAsset: () => sampleAsset(), publisherByKey: () => samplePublisher() };
  const window = { maxPastNs: 0n, maxFutureNs: 0n, maxBackwardNs: 0n };
  const gate = new Gate(allowList, new FakeClock(), window);
  const rights = { identity: 'alice', mayPublishAs: () => true, maySee: () => true };
  const kept: (string | undefined)[] = [];
  const keep = ({ traceId, updates: [update] }: ReadMessage) => {
    kept.push(traceId, update!.symbol);
    gate.admit({ ...update!, symbol: 'BTCUSD' }, 'evm', rights);
  };
  const textOf = (i: number) => {
    const update = updateObject('BTCUSD');
    update.signed_price.publisher_key = `0x${i.toString().padStart(40, '0')}`;
    const envelope = { type: 'signed_prices', trace_id: 'a trace ID of 30 characters..' };
    return messageText({ [`A_LONG_SYMBOL_${i}`]: update }, envelope).padEnd(length);
  };
  const before = heldBytes();
  for (let i = 0; i < 10; i++) keep(readUsualMessage(textOf(i), limits)!);
  const grown = heldBytes() - before;
  t.equal(kept.length, 20);
  t.ok(grown < 4 * length, `${grown} bytes`);
});
