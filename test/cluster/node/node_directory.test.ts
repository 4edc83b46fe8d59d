import { test } from 'tap';
import { NodeDirectory } from '../../../src/cluster/node/node_directory.js';
import type { NodeReport } from '../../../src/cluster/node_report.js';
import { distinctSigners, type Signer } from '../../../src/model/node_list.js';

const STREAM: Signer = { address: '0x1', signatureType: 'evm', role: 'stream', sinceS: 1 };
const AGGREGATE: Signer = { address: '0x2', signatureType: 'evm', role: 'aggregate', sinceS: 2 };
const HOUR_MS = 3_600_000;

function report(node: number, role: NodeReport['role'], signers: readonly Signer[]): NodeReport {
  const rest = { wireVersion: 1, run: 'r', applied: 0, configHash: new Uint8Array(0), isFit: true };
  return { node, name: `n${node}`, role, signers, ...rest };
}

/** Returns the directory of node 2, an edge. */
function directoryOf(present: NodeReport[], leader?: number) {
  const clock = { nowMs: 0 };
  const directory = new NodeDirectory({
    node: 2,
    name: 'n2',
    signers: () => [STREAM],
    member: {
      role: 'edge',
      ticks: { tickMs: 0, gaps: 0, idsRefusal: undefined },
      leader: leader === undefined ? undefined : { node: leader, name: '', configHash: new Uint8Array(0) },
      nodes: { present: () => present } as never,
    },
    logs: {},
    nowMs: () => clock.nowMs,
  });
  return { directory, clock };
}

test('a node knows the others and the keys of all', async (t) => {
  const other = { ...STREAM, address: '0x3' };
  const present = [report(1, 'standby', [AGGREGATE, other]), report(3, 'leader', [AGGREGATE])];
  const { directory } = directoryOf(present, 1);
  directory.takeChanged();
  t.same([directory.hasKeysOf(1), directory.hasKeysOf(4)], [true, false]);
  const nodes = directory.nodes();
  t.same(nodes.nodes, [
    { node: 1, name: 'n1', role: 'leader' },
    { node: 2, name: 'n2', role: 'edge' },
    { node: 3, name: 'n3', role: 'standby' },
  ]);
  t.same(nodes.signers, [
    { node: 1, ...AGGREGATE },
    { node: 1, ...other },
    { node: 2, ...STREAM },
    { node: 3, ...AGGREGATE },
  ]);
  const addresses = distinctSigners(nodes, 0).map(({ address }) => address);
  t.same(addresses, ['0x2', '0x1', '0x3'], 'those of aggregates first, and then its own');
});

test('the key of aggregates of a node that has gone is known for an hour', async (t) => {
  const present = [report(1, 'leader', [AGGREGATE, { ...STREAM, address: '0x3' }])];
  const { directory, clock } = directoryOf(present);
  const addresses = () => directory.nodes().signers.map(({ address }) => address);
  t.same(addresses(), ['0x2', '0x3', '0x1']);
  present[0] = report(1, 'leader', [{ ...AGGREGATE, address: '0x4' }]);
  clock.nowMs = 1_000;
  t.same(addresses(), ['0x2', '0x4', '0x1'], 'also when the node has another one since');
  present.length = 0;
  clock.nowMs = HOUR_MS - 1;
  t.same(addresses(), ['0x2', '0x4', '0x1']);
  clock.nowMs = HOUR_MS;
  t.same(addresses(), ['0x4', '0x1']);
});
