import { test } from 'tap';
import { parseStreamOptions } from '../../src/stream/stream_options.js';
import { CHANNELS } from '../../src/wire/stream.js';

const parse = (query: Record<string, string>) => parseStreamOptions(new Map(Object.entries(query)));

test('the defaults, and every value', async (t) => {
  t.same(parse({}), {
    channel: 'real_time',
    messageType: 'unsigned',
    mask: 1,
    binary: false,
  });
  for (const channel of CHANNELS) t.match(parse({ channel }), { channel });
  t.same(parse({ channel: '1s', message_type: 'signed_ecdsa', addtl_attrs: 'ms', more: 'x' }), {
    channel: '1s',
    messageType: 'signed_ecdsa',
    mask: 3,
    binary: false,
  });
  for (const [addtl_attrs, mask] of [
    ['spread,ms', 0b10011],
    ['quality', 0b11101],
    ['quality,age,ms', 0b11111],
  ] as const)
    t.match(parse({ addtl_attrs }), { mask });
  t.match(parse({ encoding: 'binary', message_type: 'signed_ecdsa' }), { binary: true });
  t.equal(
    parse({ encoding: 'binary' }),
    parse({}),
    'unsigned frames are text, and their readers share groups',
  );
});

test('any other value is refused with the allowed ones', async (t) => {
  const channels = 'channel must be one of 10ms, 20ms, 50ms, 100ms, 500ms, 1s, real_time';
  for (const channel of ['', '2s', 'REAL_TIME', ' 1s', 'toString', '__proto__', 'constructor'])
    t.equal(parse({ channel }), channels);
  for (const message_type of ['', 'signed', 'length', '0'])
    t.equal(parse({ message_type }), 'message_type must be one of unsigned, signed_ecdsa');
  for (const encoding of ['', 'hex', 'BINARY', 'binary,json', 'toString'])
    t.equal(parse({ encoding }), 'encoding must be one of json, binary');
  for (const addtl_attrs of ['', 'ms,', 'ms,x', 'MS', ' ms'])
    t.equal(parse({ addtl_attrs }), 'addtl_attrs must be a list of ms, age, n, spread, quality');
});
