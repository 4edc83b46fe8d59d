import { test } from 'tap';
import { parseFrame } from '../../../src/client/prices/frame.js';

test('an unsigned frame keeps every digit', async (t) => {
  const text =
    '{"type":"unsigned","tax":1,"ts":1757543080505451011,"a":[{"id":1,"v":"72147681412670819000001"},{"id":10,"v":"-5","ms":2}]}';
  t.same(parseFrame(text), {
    type: 'unsigned',
    taxonomyId: 1,
    timestampNs: 1757543080505451011n,
    assets: [
      { id: 1, value: 72147681412670819000001n },
      { id: 10, value: -5n, marketStatus: 2 },
    ],
    text,
  });
});

test('signed frames, replies and errors are told apart', async (t) => {
  const signed = '{"type":"signed_ecdsa","p":"0x00"}';
  t.same(parseFrame(signed), { type: 'signed_ecdsa', payload: '0x00', text: signed });
  t.same(parseFrame('{"type":"subscribe","id":7,"assets":[1,2],"invalid":[9]}'), {
    type: 'subscribe',
    id: 7,
    assets: [1, 2],
    invalid: [9],
  });
  // Text inside a string that looks like a timestamp must not change.
  const error = String.raw`{"type":"error","error":"bad \"ts\": 12","id":null}`;
  t.same(parseFrame(error), { type: 'error', error: 'bad "ts": 12', id: null });
  t.same(parseFrame('{"type":"pong","id":4}'), { type: 'pong' });
});

test('anything else is no frame', async (t) => {
  for (const text of ['', 'null', '[]', '{"type":"other"}', '{"type":"signed_ecdsa"}'])
    t.equal(parseFrame(text), undefined, text);
  for (const rest of ['"ts":1.5,"a":[]', '"ts":1,"a":[null]', '"ts":1,"a":[{"id":1,"v":"1.5"}]'])
    t.equal(parseFrame(`{"type":"unsigned","tax":1,${rest}}`), undefined, rest);
});
