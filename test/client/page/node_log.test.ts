import { test } from 'tap';
import { NodeLog } from '../../../src/client/page/node_log.js';

/** Returns the answer of node 3. The arguments are the roles of nodes 1, 2 and 3. */
function answer(...roles: readonly string[]) {
  return { self: 3, nodes: roles.map((role, i) => ({ node: i + 1, name: `host-${i + 1}`, role })) };
}

test('a process that is alone leaves nothing to say', async (t) => {
  const log = new NodeLog();
  t.same([log.text, log.facts(), log.isCluster], ['', [], false]);
  log.take({ self: 0, nodes: [{ node: 0, name: 'host', role: 'leader' }] }, '12:00:00 UTC');
  t.same([log.text, log.facts(), log.isCluster, log.isLeaderless], ['', [], false, false]);
});

test('the page says who serves it, who makes the prices, and when that changed', async (t) => {
  const log = new NodeLog();
  log.take(answer('leader', 'standby', 'edge'), '12:00:00 UTC');
  t.equal(log.text, 'Node 3 serves this page. Node 1 makes the prices.');
  t.same(log.facts(), [
    ['Node 1', 'leader on host-1'],
    ['Node 2', 'standby on host-2'],
    ['Node 3', 'edge on host-3, serves this page'],
  ]);
  log.take(answer('standby', 'standby', 'edge'), '12:00:03 UTC');
  t.ok(log.isLeaderless);
  t.equal(log.text, 'Node 3 serves this page. No node makes prices just now.');
  log.take(answer('standby', 'leader', 'edge'), '12:00:06 UTC');
  const changed = 'Node 3 serves this page. Node 2 makes the prices since 12:00:06 UTC; before, node 1 did.';
  t.equal(log.text, changed);
  log.take(answer('standby', 'leader', 'edge'), '12:00:09 UTC');
  t.equal(log.text, changed, 'it stays until the next change');
  log.take(answer('standby', 'standby', 'leader'), '12:00:12 UTC');
  t.equal(log.text, 'Node 3 serves this page and makes the prices since 12:00:12 UTC; before, node 2 did.');
});
