import { test } from 'tap';
import { FloodWatch, type WatchedSocket } from '../../../src/server/uws/flood_watch.js';
import type { TcpCounters } from '../../../src/server/uws/tcp_counters.js';

const KIB = 1024;
const PARSER_BYTES = 128 * KIB;
/** The handle of the first connection. */
const FIRST = 20;

/** The connections of a process, and the kernel's counts of their bytes. */
class Connections implements TcpCounters {
  readonly sockets: FakeSocket[] = [];
  utilization = 1;
  looks = 0;
  readonly watch = new FloodWatch<FakeSocket>({
    openCounters: () => this,
    sockets: this.sockets,
    utilization: () => this.utilization,
  });

  of(handle: number) {
    this.looks += 1;
    return this.sockets.find((socket) => socket.handle === handle && !socket.isClosed);
  }

  unread(handle: number): number {
    return this.of(handle)!.unread;
  }

  open(count = 1): FakeSocket {
    for (let i = 0; i < count; i++)
      this.sockets.push(new FakeSocket(FIRST + this.sockets.length, this.watch));
    return this.sockets.at(-1)!;
  }

  /** Runs several checks of the watch. Before each check a connection receives bytes. */
  check(times: number, before: () => void = () => {}): void {
    for (let i = 0; i < times; i++) {
      before();
      this.watch.check();
    }
  }
}

class FakeSocket implements WatchedSocket {
  readonly path = { parserBytesMax: PARSER_BYTES };
  received = 600;
  written = 200;
  unread = 0;
  isClosed = false;
  isBlocked = false;

  constructor(
    readonly handle: number,
    readonly watch: FloodWatch<FakeSocket>,
  ) {}

  ping(): void {
    if (!this.isBlocked) this.written += 2;
  }

  flooded(): void {
    this.isClosed = true;
  }

  /** Receives messages that uWebSockets.js reports. */
  message(bytes: number): void {
    this.received += bytes + 14;
    this.watch.reported(this, bytes);
  }
}

test('a connection whose bytes are no messages is ended, the others are not', async (t) => {
  for (const other of [10, 700]) {
    const connections = new Connections();
    connections.open(other / 2);
    const flooding = connections.open();
    connections.open(other / 2);
    const [publisher, unread] = [connections.sockets[0]!, connections.sockets[1]!];
    connections.check(8, () => {
      if (!flooding.isClosed) flooding.received += 100 * KIB;
      publisher.message(1_000 * KIB);
      unread.received += 100 * KIB;
      unread.unread += 100 * KIB;
    });
    t.same(
      connections.sockets.filter(({ isClosed }) => isClosed),
      [flooding],
    );
  }
});

test('an unfinished message of the largest size is no flood, and one byte that comes again and again is', async (t) => {
  const connections = new Connections();
  const unfinished = connections.open();
  connections.check(2, () => {
    unfinished.received += 65 * KIB;
  });
  connections.check(10, () => {
    unfinished.received += PARSER_BYTES / 10;
  });
  t.notOk(unfinished.isClosed, 'whole');
  connections.check(10, () => {
    unfinished.received += 100 * KIB;
    unfinished.message(10);
  });
  t.ok(unfinished.isClosed, 'messages between the empty frames do not help');
});

test('a connection that opens while the loop is busy is known at once', async (t) => {
  const connections = new Connections();
  connections.open(3);
  connections.check(3);
  const flooding = connections.open();
  connections.check(2, () => {
    flooding.received += 300 * KIB;
  });
  t.ok(flooding.isClosed);
});

test('an idle loop is not looked at, and after a flood it is watched for a minute', async (t) => {
  const connections = new Connections();
  const socket = connections.open();
  connections.utilization = 0.4;
  connections.check(100, () => {
    socket.received += 1_000 * KIB;
  });
  t.equal(connections.looks, 0);
  t.notOk(connections.watch.isWatching);
  connections.utilization = 0.9;
  connections.check(1);
  t.ok(connections.watch.isWatching);
  connections.utilization = 0;
  connections.check(239);
  t.ok(connections.watch.isWatching);
  connections.check(1);
  t.notOk(connections.watch.isWatching);
  const { looks } = connections;
  connections.check(10);
  t.equal(connections.looks, looks);
});

test('a loop that was busy is looked at little, and a flood that returns is found at once', async (t) => {
  const connections = new Connections();
  connections.open(700);
  const flooding = connections.open();
  connections.open(200);
  connections.check(2);
  connections.utilization = 0.1;
  const { looks } = connections;
  connections.check(200);
  const looksMax = 200 * 16;
  t.ok(connections.looks > looks && connections.looks - looks <= looksMax);
  connections.utilization = 0.9;
  connections.check(8, () => {
    if (!flooding.isClosed) flooding.received += 100 * KIB;
  });
  t.same(
    connections.sockets.filter(({ isClosed }) => isClosed),
    [flooding],
  );
});

test('a connection that takes no pings is not confused with another', async (t) => {
  const connections = new Connections();
  connections.open(3);
  const blocked = connections.open();
  connections.open(3);
  blocked.isBlocked = true;
  connections.check(20, () => {
    blocked.received += 300 * KIB;
  });
  t.ok(connections.sockets.every(({ isClosed }) => !isClosed));
  blocked.isBlocked = false;
  connections.check(45, () => {
    if (!blocked.isClosed) blocked.received += 300 * KIB;
  });
  t.ok(blocked.isClosed, 'once it takes them, it is found');
});

test('a handle that another connection has now does not count for the one before', async (t) => {
  const connections = new Connections();
  const before = connections.open();
  connections.check(3, () => before.message(100 * KIB));
  before.isClosed = true;
  connections.watch.closed(before);
  connections.sockets.length = 0;
  const next = connections.open();
  next.received = before.received + PARSER_BYTES * 3;
  connections.check(3, () => next.message(100 * KIB));
  t.notOk(next.isClosed);
});

test('without the counts nothing is watched', async (t) => {
  const sockets: FakeSocket[] = [];
  const watch = new FloodWatch<FakeSocket>({
    openCounters: () => undefined,
    sockets,
    utilization: () => 1,
  });
  sockets.push(new FakeSocket(FIRST, watch));
  for (let i = 0; i < 3; i++) watch.check();
  t.notOk(watch.isWatching);
});
