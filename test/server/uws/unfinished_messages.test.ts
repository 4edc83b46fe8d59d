import { test } from 'tap';
import { SocketHandles } from '../../../src/server/uws/socket_handles.js';
import { UnfinishedMessages } from '../../../src/server/uws/unfinished_messages.js';
import { FakeSocket, fakeCounters } from './fake_tcp.js';

const MIB = 1024 * 1024;
const PARSER_BYTES = 2 * MIB;

class FakePublisher extends FakeSocket {
  readonly path = { parserBytesMax: PARSER_BYTES };
  isClosed = false;

  constructor(readonly owner: object) {
    super();
  }

  tooLarge(): void {
    this.isClosed = true;
  }
}

function open(...counts: number[]) {
  const callers = counts.map((count) => {
    const owner = {};
    return Array.from({ length: count }, () => new FakePublisher(owner));
  });
  const sockets = callers.flat();
  const handles = new SocketHandles<FakePublisher>(fakeCounters(sockets), () => 0);
  const unfinished = new UnfinishedMessages<FakePublisher>(handles, 16 * MIB);
  for (const socket of sockets) unfinished.add(socket);
  return { unfinished, callers };
}

const closed = (sockets: readonly FakePublisher[]) => sockets.filter(({ isClosed }) => isClosed).length;

test('past the bound the caller with the most unfinished bytes loses its largest messages', async (t) => {
  const { unfinished, callers } = open(20, 3);
  t.teardown(() => unfinished.stop());
  const [attacker, honest] = callers as [FakePublisher[], FakePublisher[]];
  unfinished.check();
  for (const socket of honest) socket.received += MIB;
  attacker.forEach((socket, i) => {
    socket.received += (i < 10 ? 1 : 0.25) * MIB;
  });
  unfinished.check();
  t.equal(closed([...attacker, ...honest]), 0, '15.5 MiB are within the bound');
  for (const socket of attacker) socket.received += 0.25 * MIB;
  unfinished.check();
  t.equal(closed(honest), 0);
  t.equal(closed(attacker.slice(0, 10)), 10, 'the largest of the attacker');
  t.equal(closed(attacker.slice(10)), 0);
});

test('whole messages leave nothing behind', async (t) => {
  const { unfinished, callers } = open(20);
  t.teardown(() => unfinished.stop());
  const [sockets] = callers as [FakePublisher[]];
  for (let check = 0; check < 100; check++) {
    for (const socket of sockets) {
      socket.received += MIB + 14;
      unfinished.received(socket, MIB);
    }
    unfinished.check();
  }
  t.equal(closed(sockets), 0);
  for (const socket of sockets) socket.received += MIB;
  unfinished.check();
  t.ok(closed(sockets) >= 8, 'many whole messages give no credit for later ones');
});

test('few connections are not checked, since they cannot exceed the bound', async (t) => {
  const { unfinished, callers } = open(8);
  t.teardown(() => unfinished.stop());
  t.notOk(unfinished.isChecking);
  const one = new FakePublisher({});
  unfinished.add(one);
  t.ok(unfinished.isChecking);
  unfinished.delete(one);
  unfinished.delete(one);
  t.notOk(unfinished.isChecking);
  for (const socket of callers[0]!) unfinished.delete(socket);
});
