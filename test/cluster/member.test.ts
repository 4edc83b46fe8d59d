import { type Test, test } from 'tap';
import { Random } from '../random.js';
import { Agenda } from './simulation/agenda.js';
import { Invariants } from './simulation/invariants.js';
import { MessageServers } from './simulation/message_servers.js';
import { priceOf } from './simulation/sample.js';
import type { SimulatedBus } from './simulation/simulated_bus.js';
import { SimulatedNode } from './simulation/simulated_node.js';
import { TIMING } from './simulation/simulation.js';

const LEASE_MS = TIMING.leaseMs;

test('a standby leads a lease after the leader has died', async (t) => {
  const { agenda, first, second, edge } = await cluster(t);
  first.kill();
  await agenda.runUntil(agenda.nowMs + 0.6 * LEASE_MS);
  t.equal(second.process!.member.role, 'standby', 'not before its lease is over');
  await agenda.runUntil(agenda.nowMs + 0.6 * LEASE_MS);
  t.equal(second.process!.member.role, 'leader');
  t.equal(edge.process!.member.leader?.node, 2);
  t.same([...edge.process!.table], [[1, priceOf(7)]], 'prices go on');
});

test('a leader that resigns is followed at once, and what it had made is in the log', async (t) => {
  const { agenda, servers, first, second, invariants } = await cluster(t);
  const leader = first.process!;
  leader.publish({ asset: 2, value: 8 }, false);
  let isDone = false;
  void leader.member.resign().then(() => {
    isDone = true;
  });
  t.equal(leader.member.role, 'standby', 'it makes no more prices');
  await agenda.runUntil(agenda.nowMs + 100);
  t.ok(isDone);
  t.equal(second.process!.member.role, 'leader');
  t.equal(second.process!.table.get(2), priceOf(8));
  await agenda.runUntil(agenda.nowMs + 3 * LEASE_MS);
  t.equal(invariants.authorOf(servers.end.id), 'n2.1', 'the node that resigned claims no more');
});

test('a node with a wrong clock leads only while no other one could', async (t) => {
  const { agenda, first, second } = await cluster(t);
  const roles = () => [first, second].map(({ process }) => process?.member.role);
  first.hasRightClock = false;
  await agenda.runUntil(agenda.nowMs + TIMING.heartbeatMs + 100);
  t.same(roles(), ['standby', 'leader']);
  await agenda.runUntil(agenda.nowMs + 3 * LEASE_MS);
  second.kill();
  await agenda.runUntil(agenda.nowMs + 1.5 * LEASE_MS);
  t.same(roles(), ['standby', undefined], 'not while the other one may only be late');
  await agenda.runUntil(agenda.nowMs + 3 * LEASE_MS);
  t.same(roles(), ['leader', undefined], 'it is the only one');
  second.hasRightClock = false;
  second.start();
  await agenda.runUntil(agenda.nowMs + 3 * LEASE_MS);
  t.same(roles(), ['leader', 'standby'], 'the other one is no better');
  second.hasRightClock = true;
  await agenda.runUntil(agenda.nowMs + 2 * LEASE_MS);
  t.same(roles(), ['standby', 'leader']);
});

/** Starts a leading aggregator, a standby and an edge. One asset has a price. */
async function cluster(t: Test) {
  const agenda = new Agenda();
  const random = new Random(1);
  const invariants = new Invariants(() => agenda.nowMs, TIMING.tickLeaseMs);
  const servers = new MessageServers({
    agenda,
    random,
    committed: (record) => {
      if (invariants.authorOf(record.id) !== undefined) invariants.committed(record);
    },
  });
  const buses = new Set<SimulatedBus>();
  const all = { agenda, random, servers, buses, invariants, timing: TIMING };
  const first = new SimulatedNode({ ...all, number: 1, role: 'aggregator' });
  const second = new SimulatedNode({ ...all, number: 2, role: 'aggregator' });
  const edge = new SimulatedNode({ ...all, number: 3, role: 'edge' });
  first.start();
  await agenda.runUntil(1.5 * LEASE_MS);
  second.start();
  edge.start();
  first.process!.publish({ asset: 1, value: 7 }, true);
  await agenda.runUntil(3 * LEASE_MS);
  t.equal(first.process!.member.role, 'leader');
  t.same([...edge.process!.table], [[1, priceOf(7)]]);
  t.equal(invariants.acknowledgedCount, 1);
  t.same(invariants.violations, []);
  return { agenda, invariants, servers, first, second, edge };
}
