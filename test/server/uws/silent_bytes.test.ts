import { test } from 'tap';
import { SilentBytes } from '../../../src/server/uws/silent_bytes.js';
import { SocketHandles } from '../../../src/server/uws/socket_handles.js';
import { FakeSocket, fakeCounters } from './fake_tcp.js';

const KIB = 1024;

function open(count: number) {
  const sockets = Array.from({ length: count }, () => new FakeSocket());
  const silent = new SilentBytes<FakeSocket>(new SocketHandles(fakeCounters(sockets), () => 0));
  return { silent, sockets };
}

test('a connection that has sent more than its opening is found among the others', async (t) => {
  const { silent, sockets } = open(12);
  t.equal(silent.hasOnlyOpened(sockets[0]!), undefined, 'before the search');
  silent.findAll(sockets);
  sockets[2]!.received = 25 * KIB;
  sockets[3]!.received = 25 * KIB;
  sockets[3]!.unread = 2 * KIB;
  t.same(
    sockets.map((socket) => silent.hasOnlyOpened(socket)),
    sockets.map((_, i) => i !== 2),
  );
  sockets[0]!.received = 100 * KIB;
  t.equal(silent.hasOnlyOpened(sockets[0]!), false, 'it begins a message later');
});

test('a socket that takes no ping is unknown', async (t) => {
  const { silent, sockets } = open(60);
  sockets[0]!.isBlocked = true;
  silent.findAll(sockets);
  t.equal(silent.hasOnlyOpened(sockets[0]!), undefined);
  t.equal(silent.hasOnlyOpened(sockets[1]!), true);
});
