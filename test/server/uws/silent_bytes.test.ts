import { test } from 'tap';
import { SilentBytes } from '../../../src/server/uws/silent_bytes.js';

const KIB = 1024;

class FakeConnection {
  received = 500;
  written = 200;
  unread = 0;
  isBlocked = false;
  ping(): void {
    if (!this.isBlocked) this.written += 2;
  }
}

function open(count: number) {
  const connections = Array.from({ length: count }, () => new FakeConnection());
  // A third of the handles are files.
  const at = (handle: number) => (handle % 3 === 0 ? undefined : connections[handle - 30]);
  const counters = { of: at, unread: (handle: number) => at(handle)!.unread };
  const silent = new SilentBytes<FakeConnection>(() => counters);
  return { silent, connections: connections.filter((_, i) => (i + 30) % 3 !== 0) };
}

test('a connection that has sent more than its opening is found among the others', async (t) => {
  const { silent, connections } = open(12);
  connections[2]!.received = 25 * KIB;
  connections[3]!.received = 25 * KIB;
  connections[3]!.unread = 2 * KIB;
  t.same(
    connections.map((connection) => silent.hasOnlyOpened(connection)),
    connections.map((_, i) => i !== 2),
  );
  connections[0]!.received = 100 * KIB;
  t.equal(silent.hasOnlyOpened(connections[0]!), false, 'it begins a message later');
});

test('a socket that takes no ping is unknown, and too many wait for the next second', async (t) => {
  const { silent, connections } = open(60);
  const blocked = connections[0]!;
  blocked.isBlocked = true;
  t.equal(silent.hasOnlyOpened(blocked), undefined);
  for (const connection of connections) connection.received = 25 * KIB;
  const found = () => connections.filter((connection) => silent.hasOnlyOpened(connection) === false).length;
  t.ok(found() < 17);
  for (let second = 0; second < 4; second++) {
    silent.tick();
    found();
  }
  t.equal(found(), connections.length - 1);
  t.equal(new SilentBytes<FakeConnection>(() => undefined).hasOnlyOpened(blocked), undefined);
});
