import { test } from 'tap';
import type { Price } from '../../src/model/price.js';
import type { PublisherPrice } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';
import { decodeInput, encodeInput, openInput } from '../../src/records/input_record.js';

function inputOf(price: bigint, text: string, v?: string, metadata?: string): PublisherPrice {
  return {
    price: price as Price,
    timestampNs: 1_795_000_000_000_000_001n as TimeNs,
    wire: {
      publisherKey: '0x12AB',
      externalAssetId: 'BTCUSD',
      price: text,
      r: `0x${'1f'.repeat(32)}`,
      s: '0x1',
      v,
      msgHash: `0x0${'2'.repeat(63)}`,
      metadata,
    },
  };
}

const INPUTS = [
  inputOf(100n, '100', '0x1b'),
  inputOf(-7n, '-7'),
  inputOf(100n, '0x64', '0x1c', '{"venue":"é"}'),
  // The number differs from the one that the text represents.
  inputOf(3n, '2'),
];

test('an opened input has the same fields and gives the bytes of its record back', async (t) => {
  const records = INPUTS.map((input) => Buffer.from(encodeInput(input)));
  let rest: Uint8Array = Buffer.concat(records);
  for (const [index, expected] of INPUTS.entries()) {
    const { input, byteLength } = openInput(rest);
    t.same(Buffer.from(encodeInput(input)), records[index], 'the record');
    t.same({ ...input }, expected);
    t.same(openInput(rest).input.wire, expected.wire, 'the texts alone');
    t.same(decodeInput(rest), { input: expected, byteLength });
    rest = rest.subarray(byteLength);
  }
  t.equal(rest.length, 0);
});

/** The place of the table of fields, and the fields in record.fbs that each record has. */
const VTABLE_AT = 8;
const REQUIRED = [3, 4, 5, 6, 7, 9];

test('bytes that are not a record do not open', async (t) => {
  for (const input of INPUTS) {
    const record = encodeInput(input);
    for (let length = 0; length < record.length; length++)
      t.throws(() => openInput(record.slice(0, length)), RangeError, `the first ${length} bytes`);
    for (const length of [-4, -5, -(2 ** 31), 0]) {
      const endless = Buffer.from(record);
      endless.writeInt32LE(length);
      for (const open of [openInput, decodeInput])
        t.throws(() => open(endless), /not complete/, `a length of ${length}`);
    }
    for (const field of REQUIRED) {
      const damaged = Buffer.from(record);
      damaged.writeUInt16LE(0x7fff, VTABLE_AT + 4 + 2 * field);
      t.throws(() => openInput(damaged), RangeError, `field ${field} outside`);
      const table = 4 + damaged.readUInt32LE(4);
      damaged.set(record);
      const slotAt = table + damaged.readUInt16LE(VTABLE_AT + 4 + 2 * field);
      damaged.writeUInt32LE(record.length, slotAt + damaged.readUInt32LE(slotAt));
      t.throws(() => openInput(damaged), /ends outside/, `field ${field} too long`);
      damaged.writeUInt16LE(0, VTABLE_AT + 4 + 2 * field);
      t.throws(() => openInput(damaged), /lacks a text/, `field ${field} is absent`);
    }
  }
});
