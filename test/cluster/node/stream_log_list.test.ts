import { test } from 'tap';
import { listLogs } from '../../../src/cluster/node/stream_log_list.js';
import { Ed25519Key } from '../../../src/tlog/ed25519_key.js';
import { formatVerifierKey } from '../../../src/tlog/verifier_key.js';

/** Returns the facts of the log of payloads of one node. */
function streamLogOf(node: number) {
  const origin = `a.example.com/tlog/node-${node}`;
  return { origin, vkey: formatVerifierKey(new Ed25519Key(Buffer.alloc(32, 0x60 + node)).logKey(origin)) };
}

/** Returns a log with the name of node `named` and the key of node `keyed`, as node `node` reports it. */
function reported(node: number, named = node, keyed = named) {
  const { origin, vkey } = streamLogOf(named);
  if (keyed === named) return { node, origin, vkey };
  const other = streamLogOf(keyed);
  return { node, origin, vkey: other.vkey.replace(other.origin, origin) };
}

const nodesOf = (logs: readonly { node: number }[]) => logs.map(({ node }) => node);

test('the logs of all nodes are listed, with the own one', async (t) => {
  const own = streamLogOf(2);
  const list = listLogs({ self: 2, streamLogs: [reported(3), reported(1)] }, own);
  t.same(list, [reported(1), reported(2), reported(3)]);
  t.same(nodesOf(listLogs({ self: 2, streamLogs: [reported(1)] }, undefined)), [1]);
  t.same(listLogs({ self: 0 }, undefined), []);
});

test('a node that reports the log of another node is left out', async (t) => {
  const own = streamLogOf(2);
  const heard = (...streamLogs: ReturnType<typeof reported>[]) =>
    nodesOf(listLogs({ self: 2, log: { ...streamLogOf(9), policy: '', maxDelayS: 1 }, streamLogs }, own));
  t.same(heard(reported(3, 1)), [2], 'the name of an absent node');
  t.same(heard(reported(3, 2)), [2], "this node's name");
  t.same(heard(reported(2, 3)), [2], 'this node is not told its own log');
  t.same(heard(reported(3, 3, 4)), [2], 'a key whose ID is that of another name');
  t.same(heard({ node: 3, origin: 'other.example/log', vkey: 'other.example/log' }), [2], 'no key');
  t.same(heard({ ...reported(9), node: 9 }), [2], 'the log of prices');
  const origin = 'a.example/log';
  const same = { origin, vkey: formatVerifierKey(new Ed25519Key(Buffer.alloc(32, 7)).logKey(origin)) };
  t.same(heard({ ...same, node: 4 }), [2, 4], 'a name of its own');
  t.same(heard({ ...same, node: 3 }, { ...same, node: 4 }, reported(5)), [2, 5], 'one name of two nodes');
});
