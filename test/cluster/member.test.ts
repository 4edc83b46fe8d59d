import { type Test, test } from 'tap';
import { LeadershipLost } from '../../src/cluster/log/log_writer.js';
import { chainedRecord } from '../../src/cluster/log/record_chain.js';
import { Agenda } from './simulation/agenda.js';
import { Invariants } from './simulation/invariants.js';
import { MessageServers } from './simulation/message_servers.js';
import { Random } from './simulation/random.js';
import { inputEntry, priceOf, TAXONOMIES } from './simulation/sample.js';
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

test('an edge shows the prices of a leader with other streaming IDs under their symbols', async (t) => {
  const { agenda, first, second, edge, invariants } = await cluster(t);
  first.process!.publish({ asset: 2, value: 8 }, false);
  first.taxonomy = TAXONOMIES[1]!;
  first.process!.publish({ asset: 3, value: 9 }, false);
  await agenda.runUntil(agenda.nowMs + 500);
  const prices = new Map([
    [1, priceOf(7)],
    [2, priceOf(8)],
    [3, priceOf(9)],
  ]);
  t.same(edge.process!.table, prices);
  edge.taxonomy = TAXONOMIES[1]!;
  edge.process!.member.reloaded();
  first.kill();
  await agenda.runUntil(agenda.nowMs + 2 * LEASE_MS);
  t.equal(second.process!.member.role, 'leader', 'which was not reloaded');
  t.same(edge.process!.table, prices);
  t.ok(edge.process!.member.isReady);
  t.same(invariants.violations, []);
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

test('a member says what it is', async (t) => {
  const { first, second, edge } = await cluster(t);
  const [leader, standby, third] = [first, second, edge].map(({ process }) => process!.member);
  t.same([leader!.role, standby!.role, third!.role], ['leader', 'standby', 'edge']);
  t.ok(leader!.nodes.hasStandby);
  t.notOk(standby!.nodes.hasStandby);
  t.same(
    leader!.nodes.present().map(({ node, name, role }) => ({ node, name, role })),
    [
      { node: 2, name: 'n2', role: 'standby' },
      { node: 3, name: 'n3', role: 'edge' },
    ],
  );
  t.ok(third!.isReady);
  t.equal(third!.log.lag, 0);
  t.equal(leader!.refusedWrites, 0);
  t.equal(third!.ticks.gaps, 0);
  t.ok(third!.nextDueMs() > edge.nowMs());
});

test('a node that starts behind the claim knows who leads', async (t) => {
  const { agenda, first, edge } = await cluster(t);
  while (edge.kept.position.sequence <= first.process!.member.epoch)
    await agenda.runUntil(agenda.nowMs + 100);
  edge.kill();
  edge.start();
  const { member } = edge.process!;
  t.equal(member.ledEpoch, undefined);
  await agenda.runUntil(agenda.nowMs + LEASE_MS);
  t.equal(member.ledEpoch, first.process!.member.epoch);
  t.equal(member.leader?.node, 1);
  void first.process!.member.resign();
  await agenda.runUntil(agenda.nowMs + LEASE_MS);
  t.equal(member.leader?.node, 2);
  t.equal(member.ledEpoch, member.epoch);
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

test('a node that was killed shows aggregates when it has all that it showed before', async (t) => {
  const { agenda, first, edge } = await cluster(t);
  const shown = () => edge.process!.latest!.get(1)!;
  let value = 7;
  do {
    first.process!.publish({ asset: 1, value: ++value }, false);
    await agenda.runUntil(agenda.nowMs + 20);
  } while (edge.kept.signed.get(1) === shown());
  const beforeUs = shown();
  edge.kill();
  edge.start();
  t.equal(edge.process!.latest, undefined, 'its store may lack what it showed, and here does');
  while (edge.process!.latest === undefined) await agenda.runUntil(agenda.nowMs + 0.1);
  t.equal(shown(), beforeUs);
});

test('nodes behind a cut that hear each other, and no log, go to another server', async (t) => {
  const { agenda, servers, first, second, edge } = await cluster(t);
  const [ofLeader, ofStandby, ofEdge] = [...servers.clients];
  ofLeader!.server = 0;
  ofStandby!.server = 1;
  ofEdge!.server = 0;
  const { sequence } = servers.end;
  while (first.process!.member.applied.sequence === sequence) await agenda.runUntil(agenda.nowMs + 1);
  await agenda.runUntil(agenda.nowMs + 5);
  servers.cutOff(0);
  await agenda.runUntil(agenda.nowMs + 0.9 * TIMING.tickLeaseMs);
  t.equal(second.process!.member.role, 'leader');
  t.same([ofLeader!.server, ofEdge!.server], [0, 0], 'elections of the servers are waited for');
  await agenda.runUntil(agenda.nowMs + TIMING.silenceMs);
  t.not(ofLeader!.server, 0);
  t.not(ofEdge!.server, 0);
  t.equal(first.process!.member.role, 'standby');
  t.equal(edge.process!.member.ledEpoch, second.process!.member.epoch);
});

test('a record that no leader wrote has no effect; the leader goes on after it', async (t) => {
  const { agenda, servers, first, edge, invariants } = await cluster(t);
  const stray = chainedRecord({ epoch: 1, sequence: 2, after: 'another', entries: [] });
  servers.append(0, servers.end, stray.id, stray.bytes, () => {});
  await agenda.runUntil(agenda.nowMs + LEASE_MS);
  t.same(
    new Set(invariants.violations.map((text) => text.replace(/^.*ms: (n\d) skips.*$/, '$1'))),
    new Set(['n1', 'n2', 'n3']),
  );
  t.equal(first.process!.member.role, 'leader');
  first.process!.publish({ asset: 1, value: 8 }, true);
  await agenda.runUntil(agenda.nowMs + 100);
  t.same([...edge.process!.table], [[1, priceOf(8)]]);
  t.equal(invariants.acknowledgedCount, 2);
  t.equal(edge.process!.member.applied.sequence, servers.end.sequence);
});

test('servers that lost the newest records, or all, receive them again, and no acknowledged update is lost', async (t) => {
  for (const count of [1, 4, 1_000]) {
    const { agenda, servers, first, edge, invariants } = await cluster(t);
    first.process!.publish({ asset: 1, value: 8 }, true);
    await agenda.runUntil(agenda.nowMs + 100);
    const before = [...servers.log];
    servers.loseTail(count);
    await agenda.runUntil(agenda.nowMs + 3 * LEASE_MS);
    t.same(servers.log.slice(0, before.length), before);
    first.process!.publish({ asset: 1, value: 9 }, true);
    await agenda.runUntil(agenda.nowMs + LEASE_MS);
    t.same([...edge.process!.table], [[1, priceOf(9)]]);
    invariants.end();
    t.same(invariants.violations, []);
  }
});

test('a standby does not claim in the place of records that the servers lost and another node had', async (t) => {
  const { agenda, servers, first, second, edge, invariants } = await cluster(t);
  second.isCut = true;
  first.process!.publish({ asset: 1, value: 8 }, true);
  await agenda.runUntil(agenda.nowMs + 300);
  t.equal(invariants.acknowledgedCount, 2);
  const { sequence } = second.process!.member.applied;
  second.isCut = false;
  servers.loseTail(servers.end.sequence - sequence);
  // The leader reports its last applied record, and dies before the servers store the records again.
  servers.slowWrites = { chance: 1, ms: 1e9 };
  while (second.process!.member.nodes.appliedMax <= sequence) await agenda.runUntil(agenda.nowMs + 1);
  first.kill();
  servers.slowWrites = { chance: 0, ms: 0 };
  await agenda.runUntil(agenda.nowMs + TIMING.regressedMs + 3 * LEASE_MS);
  t.equal(second.process!.member.role, 'standby');
  t.equal(servers.end.sequence, sequence);
  t.match(
    invariants.stops.find((reason) => reason.includes('another node has applied')),
    /^the log has lost records: it ends with \d+ .*, so at least \d+ are lost; to go on without them, run tickseal store/,
  );
  t.ok(edge.process!.hasStopped, 'the edge has applied them');
  t.same([...edge.process!.table], []);
});

test('a log that two lead ends the node that finds it', async (t) => {
  const { agenda, servers, first, edge, invariants } = await cluster(t);
  first.kill();
  const { sequence, id } = servers.end;
  const record = chainedRecord({
    epoch: 1,
    sequence: sequence + 1,
    after: id,
    claim: SECOND_CLAIM,
    entries: [],
  });
  servers.append(0, { sequence, id }, record.id, record.bytes, () => {});
  await agenda.runUntil(agenda.nowMs + 300);
  t.match(
    invariants.violations.find((text) => text.includes('n3')),
    `n3 cannot go on: record ${sequence + 1} of the log claims epoch 1, which is not its place`,
  );
  t.equal(edge.process!.member.applied.sequence, sequence);
  t.same([...edge.process!.table], [], 'no price that nobody keeps current');
  t.equal(edge.process!.member.nextDueMs(), Number.POSITIVE_INFINITY);
});

const SECOND_CLAIM = {
  node: 9,
  name: 'n9',
  run: 'n9',
  attempt: 1,
  configHash: new Uint8Array(0),
  resign: false,
};

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
  const all = { agenda, random, servers, buses, invariants, timing: TIMING, mutant: {} };
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
