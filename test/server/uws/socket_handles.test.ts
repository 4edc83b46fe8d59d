import { test } from 'tap';
import { SocketHandles } from '../../../src/server/uws/socket_handles.js';
import { FakeSocket, fakeCounters } from './fake_tcp.js';

test('one search finds the handles of many sockets, with and without TLS', async (t) => {
  for (const overhead of [2, 24, 31]) {
    const sockets = Array.from({ length: 100 }, () => new FakeSocket());
    sockets.forEach((socket, i) => {
      socket.overhead = overhead;
      socket.received = 1000 + i;
      socket.unread = i % 2;
    });
    const handles = new SocketHandles<FakeSocket>(fakeCounters(sockets), () => 0);
    handles.find(sockets);
    t.same(
      sockets.map((socket) => handles.readBytes(socket)),
      sockets.map((_, i) => 1000 + i - (i % 2)),
    );
    t.ok(
      sockets.every(({ pings }) => pings <= 4),
      'few pings',
    );
    handles.closed(sockets[0]!);
    t.equal(handles.readBytes(sockets[0]!), undefined);
  }
});

test('more sockets are found by later searches, each after a pause', async (t) => {
  let nowMs = 0;
  const sockets = Array.from({ length: 300 }, () => new FakeSocket());
  for (const socket of sockets.slice(0, 130)) socket.isBlocked = true;
  const handles = new SocketHandles<FakeSocket>(fakeCounters(sockets), () => nowMs++);
  const found = () => sockets.filter((socket) => handles.of(socket) !== undefined).length;
  for (let second = 0; second < 10; second++, nowMs += 1_000) handles.find(sockets);
  t.equal(found(), 170, 'blocked sockets keep none of the others waiting');
  sockets[0]!.isBlocked = false;
  handles.find(sockets.slice(0, 1));
  const { pings } = sockets[0]!;
  handles.closed(sockets[0]!);
  handles.find(sockets.slice(0, 1));
  t.equal(sockets[0]!.pings, pings, 'a search too soon does nothing');
});

test('without counts of the system nothing is known', async (t) => {
  const handles = new SocketHandles<FakeSocket>(
    () => undefined,
    () => 0,
  );
  const socket = new FakeSocket();
  handles.find([socket]);
  t.equal(handles.readBytes(socket), undefined);
  t.equal(socket.pings, 0);
});
