import { test } from 'tap';
import { LOG_START } from '../../../src/cluster/bus.js';
import { CHECKED_RECORDS_MAX, CopyCheck } from '../../../src/cluster/log/copy_check.js';
import type { LogServers } from '../../../src/cluster/log/log_servers.js';
import { chainedRecord } from '../../../src/cluster/log/record_chain.js';
import { Agenda } from '../simulation/agenda.js';
import { type Damage, MessageServers, SERVERS } from '../simulation/message_servers.js';
import { Random } from '../simulation/random.js';

const nameOf = (server: number) => `n${server + 1}`;

/** Simulates servers with a log, of which one server leads, and a node that has applied all records of the log. */
async function checking(count: number, { leads = true, retentionMs = 1e9, skipped = 0 } = {}) {
  const agenda = new Agenda();
  const random = new Random(count);
  const servers = new MessageServers({ agenda, random, committed: () => {}, retentionMs });
  const scene = { lead: 0, first: 1, leads, reads: [] as number[], runs: ['a', 'b', 'c'] };
  const told: (string | undefined)[] = [];
  const moves: string[] = [];
  const asked: Pick<LogServers, 'logLead' | 'leadersRecord' | 'moveLogLead' | 'serverDisks'> = {
    logLead: async () => {
      if (scene.lead < 0) throw new Error('the servers elect a leader');
      const firstSequence = Math.max(servers.firstSequence, scene.first);
      return { server: nameOf(scene.lead), firstSequence, lastSequence: servers.end.sequence };
    },
    leadersRecord: async (sequence) => {
      scene.reads.push(sequence);
      const records = servers.read(scene.lead, sequence - 1);
      return records instanceof Error ? undefined : records[0];
    },
    moveLogLead: async (damaged) => {
      const to = Array.from({ length: SERVERS }, (_, server) => server).find(
        (server) => server !== scene.lead && !damaged.has(nameOf(server)),
      );
      moves.push(to === undefined ? 'none' : nameOf(to));
      scene.lead = to ?? scene.lead;
      return to === undefined ? undefined : nameOf(to);
    },
    serverDisks: async () =>
      scene.runs.map((run, server) => ({ server: nameOf(server), isAway: false, syncMs: 0, run })),
  };
  const check = new CopyCheck({
    servers: asked,
    leads: () => scene.leads,
    onChanged: (one) => told.push(one),
  });
  let { id } = LOG_START;
  for (let sequence = 1; sequence <= count; sequence++) {
    const record = chainedRecord({ epoch: 1, sequence, after: id, entries: [] });
    servers.append(0, { sequence: sequence - 1, id }, record.id, record.bytes, () => {});
    ({ id } = record);
    await agenda.runUntil(agenda.nowMs + 3);
    if (sequence !== skipped) check.applied(record);
  }
  await agenda.runUntil(agenda.nowMs + 1_000);
  return {
    scene,
    servers,
    check,
    told,
    moves,
    async seconds(some: number) {
      for (let second = 0; second < some; second++) {
        await agenda.runUntil(agenda.nowMs + 1_000);
        check.tick(agenda.nowMs);
        for (let turn = 0; turn < 20 * CHECKED_RECORDS_MAX; turn++) await undefined;
      }
    },
  };
}

test('a damaged record of the server that leads the log is found, and another server leads', async (t) => {
  for (const damage of ['flipped', 'missing'] satisfies Damage[]) {
    const { scene, servers, check, told, moves, seconds } = await checking(50);
    await seconds(3);
    t.same([check.reason, check.damagedCount, told], [undefined, 0, []], 'nothing to tell');
    servers.damage(0, 17, damage);
    await seconds(61);
    const reason = `NATS server n1 has ${damage === 'flipped' ? 'changed' : 'lost'} record 17 of the log: see "When a server damages its copy" in CLUSTER.md`;
    t.equal(check.reason, reason);
    t.same(told, [reason], 'once');
    t.same([moves, scene.lead, check.damagedCount], [['n2'], 1, 1]);
    t.equal(check.damaged.has('n1'), true);
    t.equal(check.damaged.has('n2'), false, 'sound copies are not blamed');
    await seconds(70);
    t.same([told.length, moves.length], [1, 1], 'nothing new about sound copies');
  }
});

test('the newest records are read first, and only so many in a second and in a minute', async (t) => {
  const { scene, seconds } = await checking(450, { skipped: 449 });
  await seconds(1);
  t.same(scene.reads.slice(0, 3), [450, 448, 447], 'a skipped record has no hash');
  t.ok(scene.reads.length <= CHECKED_RECORDS_MAX, `${scene.reads.length} in a second`);
  await seconds(30);
  t.equal(scene.reads.length, 449, 'each once');
  await seconds(30);
  t.equal(scene.reads.length > 449, true, 'and again after a minute');
});

test('a server that begins to lead is checked at once', async (t) => {
  const { scene, servers, check, moves, seconds } = await checking(50);
  servers.damage(2, 50, 'missing');
  await seconds(61);
  t.equal(check.reason, undefined, 'only the copy of the leading server is read');
  scene.lead = 2;
  await seconds(1);
  t.match(check.reason, /^NATS server n3 has lost record 50 /);
  t.same(moves, ['n1']);
});

test('only the leader of the cluster checks', async (t) => {
  const { scene, servers, check, told, moves, seconds } = await checking(50, { leads: false });
  servers.damage(0, 17, 'missing');
  await seconds(70);
  t.same([scene.reads, moves, told], [[], [], []]);
  scene.leads = true;
  await seconds(1);
  t.match(check.reason, /^NATS server n1 has lost record 17 /);
  scene.leads = false;
  await seconds(1);
  t.equal(check.reason, undefined);
  t.equal(told.at(-1), undefined);
});

test('records that expire are no damage', async (t) => {
  const { scene, check, told, seconds } = await checking(100, { retentionMs: 1_100 });
  await seconds(70);
  t.same([check.reason, told], [undefined, []]);
  t.ok(scene.reads.length < 100);
});

test('when another server leads after the answer, or the record expires meanwhile, no server is blamed', async (t) => {
  for (const change of [{ lead: 1 }, { first: 51 }]) {
    const { scene, servers, check, seconds } = await checking(50);
    servers.damage(0, 50, 'missing');
    const { read } = servers;
    servers.read = (server, after) => {
      const found = read.call(servers, server, after);
      // The record is read twice before a server is blamed.
      if (scene.reads.filter((sequence) => sequence === 50).length === 2) Object.assign(scene, change);
      return found;
    };
    await seconds(1);
    t.equal(check.reason, undefined);
    t.same(scene.reads, [50, 50]);
  }
});

test('an election is no damage, and the check goes on after it', async (t) => {
  const { scene, servers, check, seconds } = await checking(50);
  servers.damage(0, 50, 'missing');
  scene.lead = -1;
  await seconds(5);
  t.equal(check.reason, undefined);
  scene.lead = 0;
  await seconds(1);
  t.match(check.reason, /n1/);
});

test('without a sound copy the lead stays, and the attempts are rare', async (t) => {
  const { scene, servers, check, moves, seconds } = await checking(50);
  for (let server = 0; server < SERVERS; server++) servers.damage(server, 30, 'flipped');
  await seconds(60);
  t.equal(check.damagedCount, SERVERS);
  t.match(check.reason, /n1 has changed record 30 .*n2 has changed record 30 .*n3 has changed record 30 /);
  t.equal(scene.lead, 2);
  t.ok(moves.length <= 7, `${moves.length} attempts in a minute`);
});

test('a server is trusted again after its restart, and when it has the record again', async (t) => {
  const { scene, servers, check, told, seconds } = await checking(50);
  servers.damage(0, 17, 'missing');
  await seconds(20);
  t.equal(check.damagedCount, 1);
  scene.runs[0] = 'another';
  await seconds(11);
  t.equal(check.damagedCount, 0, 'it may have another copy');
  t.equal(told.at(-1), undefined);
  scene.lead = 0;
  await seconds(1);
  t.equal(check.damagedCount, 1, 'it has not');
  servers.repair(0);
  scene.lead = 0;
  await seconds(1);
  t.equal(check.damagedCount, 0, 'the record is there again');
});
