import assert from 'node:assert/strict';
import { BlockList, isIP, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { test } from 'tap';
import { addressGroup, isInBlock, parseAddress, parseAddressBlock } from '../../src/model/address.js';
import { holds } from '../holds.js';

const TEXTS =
  ':: ::1 1:: 1::2::3 1:2:3:4:5:6:7:: 1.2.3.4.5 01.2.3.4 256.1.1.1 fe80::1%eth0 ::1: :1 12345:: 1:2:3:4:5:6:7:8:9 1.2.3 ::1.2.3.4.5';
const near = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4().map((text) => `::ffff:${text}`),
  fc.stringMatching(/^[0-9a-f:.]{0,20}$/),
  fc.stringMatching(/^(?:[0-9a-f]{0,4}:){0,8}[0-9a-f]{0,4}$/),
  fc.constantFrom(...TEXTS.split(' '), '', ' ::1', 'x'.repeat(1_000)),
);

test('an address is one that Node takes for one', async (t) => {
  holds(
    t,
    fc.property(near, (text) => {
      const isAddress = isIP(text) !== 0 && !text.includes('%');
      assert.equal(parseAddress(text) !== undefined, isAddress, text);
    }),
    { numRuns: 5_000 },
  );
});

test('a block holds the addresses that Node says', async (t) => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6());
  holds(
    t,
    fc.property(address, address, fc.nat(128), fc.boolean(), (first, other, length, isClose) => {
      const prefix = isIPv6(first) ? length : length % 33;
      const family = (text: string) => (isIPv6(text) ? 'ipv6' : 'ipv4');
      const list = new BlockList();
      list.addSubnet(first, prefix, family(first));
      const text = isClose ? first : other;
      const block = parseAddressBlock(`${first}/${prefix}`)!;
      const isMixed = isIPv6(first) !== isIPv6(text);
      // Mixed families are not compared here, because Node compares addresses of different families only if an address is mapped.
      // Our blocks do so only if they are smaller than the whole IPv4 range.
      if (!isMixed)
        assert.equal(
          isInBlock(block, parseAddress(text)!),
          list.check(text, family(text)),
          `${first}/${prefix} ${text}`,
        );
    }),
    { numRuns: 2_000 },
  );
  t.ok(
    isInBlock(parseAddressBlock('10.0.0.0/8')!, parseAddress('::ffff:10.1.2.3')!),
    'a mapped address is the IPv4 one',
  );
  t.ok(isInBlock(parseAddressBlock('10.0.0.1')!, parseAddress('10.0.0.1')!));
  t.notOk(isInBlock(parseAddressBlock('10.0.0.1')!, parseAddress('10.0.0.2')!));
  for (const text of ' / 10.0.0.0/ 10.0.0.0/33 ::/129 10.0.0.0/08 10.0.0.0/8/8 10/8 x'.split(' '))
    t.equal(parseAddressBlock(text), undefined, text);
});

test('IPv6 addresses count by their first 64 bits, mapped ones as IPv4', async (t) => {
  const groupOf = (text: string) => addressGroup(parseAddress(text)!);
  t.equal(groupOf('203.0.113.9'), '203.0.113.9');
  t.equal(groupOf('::ffff:203.0.113.9'), '203.0.113.9');
  t.equal(groupOf('0000:0000:0000:0000:0000:ffff:cb00:7109'), '203.0.113.9', 'as uWebSockets.js writes it');
  t.equal(groupOf('2001:db8:1:2:3:4:5:6'), '2001:0db8:0001:0002::/64');
  t.equal(groupOf('2001:db8:1:2::'), groupOf('2001:db8:1:2:ffff:ffff:ffff:ffff'));
  t.not(groupOf('2001:db8:1:2::'), groupOf('2001:db8:1:3::'));
  t.equal(groupOf('::1'), '0000:0000:0000:0000::/64');
  holds(
    t,
    fc.property(fc.ipV4(), (text) => assert.equal(groupOf(text), text)),
  );
});
