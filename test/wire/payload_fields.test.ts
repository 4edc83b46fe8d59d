import { test } from 'tap';
import { maskOf } from '../../src/wire/attribute_facts.js';
import { NO_SCHEDULE } from '../../src/wire/market_status_codes.js';
import {
  LAYOUT_MAGIC,
  LAYOUT_VERSION,
  PAYLOAD_SIGNATURE,
  type PayloadPart,
  SIMPLIFIED_LAYOUT,
  VERSIONED_LAYOUT,
} from '../../src/wire/payload_fields.js';

const placesOf = ({ at, bytes }: PayloadPart) => ({ ...at, end: bytes });

test('every field has its place', async (t) => {
  t.same(placesOf(PAYLOAD_SIGNATURE), { r: 0, s: 32, v: 64, end: 65 });
  t.same(placesOf(SIMPLIFIED_LAYOUT.head), { 'taxonomy ID': 0, timestamp: 2, end: 10 });
  t.same(placesOf(SIMPLIFIED_LAYOUT.asset), { 'asset ID': 0, price: 2, end: 18 });
  t.same(placesOf(VERSIONED_LAYOUT.head), {
    magic: 0,
    version: 1,
    'attribute mask': 2,
    'taxonomy ID': 4,
    timestamp: 6,
    end: 14,
  });
  t.same(placesOf(VERSIONED_LAYOUT.asset), {
    'asset ID': 0,
    price: 2,
    ms: 18,
    age: 19,
    n: 23,
    spread: 24,
    end: 28,
  });
});

test('the constant bytes', async (t) => {
  t.same([LAYOUT_MAGIC, LAYOUT_VERSION, maskOf(['ms']), NO_SCHEDULE], [0xff, 0x02, 0x0003, 0xff]);
});
