import { test } from 'tap';
import { parseAddressBlock } from '../../../src/model/address.js';
import { peerAddressReader } from '../../../src/model/client_address.js';
import {
  AddressConnections,
  type AddressesMemory,
  createAddresses,
  forgetAddresses,
} from '../../../src/server/access/address_connections.js';
import { CallerTimes } from '../../../src/server/access/caller_times.js';
import { RateLimiter } from '../../../src/server/access/rate_limit.js';
import { FakeClock } from '../../clock/fake_clock.js';

const HOG = '203.0.113.7';
const OTHER = '198.51.100.9';
const PROXY = '10.0.0.1';

function open(memory: AddressesMemory, thread = 0, perAddressMax = 1_000, clock = new FakeClock()) {
  const refused: string[] = [];
  const connections = new AddressConnections({
    memory,
    thread,
    limiter: new RateLimiter(clock, new CallerTimes(memory.recent)),
    perAddressMax,
    peerOf: peerAddressReader([parseAddressBlock('10.0.0.0/8')!]),
    onRefused: (address) => refused.push(address),
  });
  return { connections, refused, clock };
}

/** Opens connections as the listener does. @returns the number that stay open */
function crowd(connections: AddressConnections, address: string, count: number): number {
  let open = 0;
  for (let i = 0; i < count; i++) {
    if (connections.accept(address)) open++;
    else connections.ended();
  }
  return open;
}

test('an address opens ten times as many connections as the limit within 12 s, and a trusted proxy any number', async (t) => {
  const { connections, refused, clock } = open(createAddresses(1, Number.POSITIVE_INFINITY), 0, 5);
  t.equal(crowd(connections, HOG, 70), 50);
  t.equal(refused.length, 20);
  t.equal(crowd(connections, OTHER, 50), 50);
  t.equal(crowd(connections, PROXY, 500), 500);
  clock.advance(6_000_000_000n);
  t.equal(crowd(connections, HOG, 70), 25);
  t.notOk(connections.isShort);
});

test('900 silent connections of one address leave handles to others, also when it holds them', async (t) => {
  const { connections, clock } = open(createAddresses(1, 700));
  const first = crowd(connections, HOG, 900);
  t.ok(first > 100 && first < 350, `${first}`);
  t.equal(crowd(connections, OTHER, 8), 8);
  let held = first + 8;
  for (let round = 0; round < 20; round++) {
    clock.advance(12_000_000_000n);
    held += crowd(connections, HOG, 900);
    if (connections.isShort) break;
  }
  t.ok(connections.isShort, 'then each answer ends its connection');
  t.ok(held < 700 * 0.9, `${held} of 700`);
  t.equal(crowd(connections, OTHER, 8), 8);
});

test('threads count the sockets of an address together, and an ended thread counts no more', async (t) => {
  const memory = createAddresses(2, 1_000);
  const threads = [open(memory, 0, 3).connections, open(memory, 1, 3).connections];
  const places = [0, 1, 1].map((thread) => threads[thread]!.openSocket('2001:db8::1'));
  t.ok(places.every((place) => place !== undefined && place === places[0]));
  t.equal(threads[0]!.openSocket('2001:db8::ffff'), undefined, 'the same /64');
  t.ok(threads[0]!.openSocket(OTHER) !== undefined);
  threads[0]!.closeSocket(places[0]!);
  t.equal(threads[1]!.openSocket('2001:db8::1'), places[0]);
  t.equal(threads[1]!.openSocket('2001:db8::1'), undefined);
  t.equal(crowd(threads[1]!, PROXY, 800), 800);
  t.ok(threads[0]!.isShort);
  forgetAddresses(memory, 1);
  t.notOk(threads[0]!.isShort);
  t.equal([0, 0, 0, 0].filter(() => threads[0]!.openSocket('2001:db8::1') !== undefined).length, 3);
  const proxy = threads[0]!.openSocket(PROXY)!;
  for (let i = 0; i < 5; i++) threads[0]!.openSocket(PROXY);
  threads[0]!.closeSocket(proxy);
});
