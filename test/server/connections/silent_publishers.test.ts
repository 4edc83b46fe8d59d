import { test } from 'tap';
import { CallerCounts, createSharedAccess } from '../../../src/server/access/shared_access.js';
import { Token } from '../../../src/server/access/tokens.js';
import type { Connection } from '../../../src/server/connections/connection.js';
import { SilentPublishers } from '../../../src/server/connections/silent_publishers.js';
import { sampleToken } from '../access/sample_tokens.js';

const MIB = 1024 * 1024;

function newCounts(): CallerCounts {
  return new CallerCounts(createSharedAccess(1).callers, 0);
}

function newConnection() {
  const closedWith: number[] = [];
  return {
    connection: { close: (code: number) => closedWith.push(code) } as unknown as Connection,
    closedWith,
  };
}

test('a token may have as many silent connections as may hold 16 MiB, one more is closed', async (t) => {
  const silent = new SilentPublishers(2 * MIB, newCounts());
  const [alice, bob] = [new Token(sampleToken('alice')), new Token(sampleToken('bob'))];
  const connections = Array.from({ length: 9 }, newConnection);
  for (const { connection } of connections) silent.add(alice, connection);
  t.same(
    connections.map(({ closedWith }) => closedWith),
    [...Array<number[]>(8).fill([]), [1008]],
    'those that were silent before stay',
  );
  const other = newConnection();
  silent.add(bob, other.connection);
  t.same(other.closedWith, [], 'each token by itself');
  silent.delete(alice, connections[8]!.connection);
  silent.delete(alice, connections[0]!.connection);
  const [next, tooMany] = [newConnection(), newConnection()];
  silent.add(alice, next.connection);
  silent.add(alice, tooMany.connection);
  t.same([next.closedWith, tooMany.closedWith], [[], [1008]], 'one that answered makes room');
});

test('however long messages may be, one silent connection is left alone', async (t) => {
  const silent = new SilentPublishers(128 * MIB, newCounts());
  const token = new Token(sampleToken('alice'));
  const [first, second] = [newConnection(), newConnection()];
  silent.add(token, first.connection);
  silent.add(token, second.connection);
  t.same([first.closedWith, second.closedWith], [[], [1008]]);
});
