import { type Test, test } from 'tap';
import { LeadershipLost } from '../../src/cluster/log/log_writer.js';
import { Random } from '../random.js';
import { Agenda } from './simulation/agenda.js';
import { Invariants } from './simulation/invariants.js';
import { MessageServers } from './simulation/message_servers.js';
import { inputEntry, priceOf } from './simulation/sample.js';
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

test('an unhealthy node does not lead, until it is well again', async (t) => {
  const { agenda, first, second } = await cluster(t);
  first.isHealthy = false;
  await agenda.runUntil(agenda.nowMs + TIMING.heartbeatMs + 100);
  t.equal(first.process!.member.role, 'standby');
  t.equal(second.process!.member.role, 'leader');
  second.kill();
  await agenda.runUntil(agenda.nowMs + 2 * LEASE_MS);
  t.equal(first.process!.member.role, 'standby');
  first.isHealthy = true;
  await agenda.runUntil(agenda.nowMs + 0.5 * LEASE_MS);
  t.equal(first.process!.member.role, 'leader');
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
  second.hasRightClock = undefined;
  await agenda.runUntil(agenda.nowMs + 3 * LEASE_MS);
  t.same(roles(), ['leader', 'standby'], 'nor is it known to be, as after its start');
  second.hasRightClock = true;
  await agenda.runUntil(agenda.nowMs + 2 * LEASE_MS);
  t.same(roles(), ['standby', 'leader']);
});

test('a leader without the log stops, and its readers see no frozen price', async (t) => {
  const { agenda, first, second, edge } = await cluster(t);
  const { term } = first.process!.member;
  first.isCut = true;
  term!.append(inputEntry({ asset: 1, value: 9 }));
  const durable = term!.durable();
  durable.catch(() => {});
  await agenda.runUntil(agenda.nowMs + TIMING.tickLeaseMs + 100);
  t.equal(first.process!.member.role, 'standby');
  t.ok(term!.isOver);
  await t.rejects(durable, LeadershipLost);
  t.equal(second.process!.member.role, 'leader');
  t.same([...edge.process!.table], [[1, priceOf(7)]]);
  await agenda.runUntil(agenda.nowMs + TIMING.feedTimeoutMs);
  t.equal(first.process!.table.size, 0);
  first.isCut = false;
  await agenda.runUntil(agenda.nowMs + 2_000);
  t.same([...first.process!.table], [[1, priceOf(7)]]);
  t.equal(first.process!.member.epoch, second.process!.member.epoch);
});

test('nodes report to a node that starts at once, so that it knows their keys', async (t) => {
  const { agenda, edge } = await cluster(t);
  edge.kill();
  await agenda.runUntil(agenda.nowMs + 10 * TIMING.reportMs);
  edge.start();
  await agenda.runUntil(agenda.nowMs + TIMING.reportMs / 5);
  const { nodes } = edge.process!.member;
  t.same(
    nodes.present().map(({ node }) => node),
    [1, 2],
  );
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
