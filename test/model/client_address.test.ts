import fc from 'fast-check';
import { test } from 'tap';
import { parseAddressBlock } from '../../src/model/address.js';
import { clientAddressReader, peerAddressReader } from '../../src/model/client_address.js';

const blocks = (...texts: string[]) => texts.map((text) => parseAddressBlock(text)!);
const clientOf = clientAddressReader(blocks('10.0.0.0/8', '::1', 'fd00::/8'));
const client = (address: string, ...forwardedFor: string[]) => clientOf({ address, forwardedFor });

test('only a trusted proxy is believed', async (t) => {
  t.equal(client('203.0.113.9'), '203.0.113.9');
  t.equal(client('203.0.113.9', '198.51.100.1'), '203.0.113.9');
  t.equal(client('10.0.0.1', '198.51.100.1'), '198.51.100.1');
  t.equal(client('10.0.0.1'), '10.0.0.1', 'it says nothing');
  t.equal(client('0000:0000:0000:0000:0000:ffff:0a00:0001', '198.51.100.1'), '198.51.100.1');
  t.equal(client('::1', '2001:db8::5'), '2001:0db8:0000:0000::/64');
  const nobody = clientAddressReader([]);
  t.equal(nobody({ address: '10.0.0.1', forwardedFor: ['198.51.100.1'] }), '10.0.0.1');
});

test('a connection counts to its peer, unless the peer is a trusted proxy', async (t) => {
  const peerOf = peerAddressReader(blocks('10.0.0.0/8'));
  t.equal(peerOf('::ffff:203.0.113.9'), '203.0.113.9');
  t.equal(peerOf('2001:db8::5'), '2001:0db8:0000:0000::/64');
  t.equal(peerOf('10.0.0.1'), undefined);
  t.equal(peerOf(''), '', 'the peer has disconnected');
});

test('the client is the address furthest right that is not trusted, whatever stands before it', async (t) => {
  t.equal(client('10.0.0.1', '1.2.3.4, 198.51.100.1, 10.9.9.9,fd00::3'), '198.51.100.1');
  t.equal(client('10.0.0.1', '1.2.3.4', '198.51.100.1', ' 10.9.9.9 '), '198.51.100.1', 'in several headers');
  t.equal(client('10.0.0.1', '10.0.0.3, 10.0.0.2'), '10.0.0.3', 'all are trusted');
  const spoofed = fc.array(fc.oneof(fc.ipV4(), fc.string(), fc.constant('10.0.0.7')), { maxLength: 50 });
  fc.assert(
    fc.property(spoofed, (texts) =>
      t.equal(client('10.0.0.1', [...texts, '198.51.100.1'].join()), '198.51.100.1'),
    ),
  );
});

test('behind what is malformed nothing is believed', async (t) => {
  for (const text of ['', 'unknown', '198.51.100', '198.51.100.1:x', '[::1', '1.2.3.4 5.6.7.8']) {
    t.equal(client('10.0.0.1', `198.51.100.1, ${text}`), '10.0.0.1', text);
    t.equal(client('10.0.0.1', `198.51.100.1, ${text}, 10.0.0.2`), '10.0.0.2', text);
  }
  t.equal(client('10.0.0.1', '198.51.100.1:5678'), '198.51.100.1', 'with a port');
  t.equal(client('10.0.0.1', '[2001:db8::5]'), '2001:0db8:0000:0000::/64');
  t.equal(client('10.0.0.1', `198.51.100.1${',10.0.0.2'.repeat(5_000)}`), '10.0.0.2', 'a chain without end');
  t.equal(client('', '198.51.100.1'), '', 'the connection is gone');
});
