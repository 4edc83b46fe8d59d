import { test } from 'tap';
import type { ServerDisk } from '../../src/cluster/log/log_servers.js';
import { LogDisks } from '../../src/node/log_disks.js';

type Answer = readonly [server: string, syncMs: number | undefined, isAway?: boolean];

function asking() {
  const state = {
    answers: undefined as readonly Answer[] | undefined,
    asked: 0,
    changes: [] as (string | undefined)[],
  };
  const disks = new LogDisks({
    servers: {
      async serverDisks() {
        state.asked++;
        if (state.answers === undefined) throw new Error('the servers elect a leader');
        return state.answers.map(([server, syncMs, isAway = false]): ServerDisk => {
          return { server, syncMs, isAway };
        });
      },
    },
    onChanged: (doubt) => state.changes.push(doubt),
  });
  return {
    disks,
    state,
    async tick(nowMs: number) {
      disks.tick(nowMs);
      for (let turn = 0; turn < 5; turn++) await undefined;
    },
  };
}

test('a promise is made only when every server syncs each write', async (t) => {
  const { disks, state, tick } = asking();
  t.match(disks.doubt, /have not said yet/);
  t.equal(disks.forgetfulCount, undefined);
  state.answers = [
    ['n1', 0],
    ['n2', 120_000],
    ['n3', undefined],
  ];
  await tick(0);
  t.equal(disks.forgetfulCount, 2);
  t.equal(
    disks.doubt,
    'NATS server n2 may forget in a power cut: its sync_interval is 120 s, not always, NATS server n3 does not say whether it syncs each write',
  );
  state.answers = [
    ['n1', 0],
    ['n2', 0],
    ['n3', Number.POSITIVE_INFINITY],
  ];
  await tick(1_000);
  t.equal(disks.doubt, 'NATS server n3 may forget in a power cut: its sync_interval is unknown, not always');
  state.answers = [['n1', 0]];
  await tick(11_000);
  t.equal(disks.doubt, undefined, 'the others keep the log no more');
  t.equal(disks.forgetfulCount, 0);
  state.answers = [['n1', 1_500]];
  await tick(21_000);
  t.match(disks.doubt, /n1 .* is 1\.5 s/);
  t.equal(state.changes.length, 4, 'each change is told once');
});

test('a server that is away keeps its last answer, and one that is silent does not', async (t) => {
  const { disks, state, tick } = asking();
  state.answers = [
    ['n1', 0],
    ['n2', 0],
  ];
  await tick(0);
  t.equal(disks.doubt, undefined);
  state.answers = [
    ['n1', 0],
    ['n2', undefined, true],
  ];
  for (const second of [10, 20, 3_600]) await tick(second * 1_000);
  t.equal(disks.doubt, undefined, 'it acknowledges nothing');
  state.answers = [
    ['n1', 0],
    ['n2', undefined],
  ];
  await tick(3_610_000);
  t.match(disks.doubt, /n2 does not say/, 'it is back, and does not answer');
});

test('an answer that comes late is waited for, and lost ones do not count for ever', async (t) => {
  const { disks, state, tick } = asking();
  state.answers = [['n1', 0]];
  await tick(0);
  state.answers = [['n1', undefined]];
  await tick(10_000);
  await tick(29_000);
  t.equal(disks.doubt, undefined);
  await tick(40_000);
  t.match(disks.doubt, /n1 does not say/);
});

test('the servers are asked every ten seconds, and less and less often while they do not answer', async (t) => {
  const { state, tick } = asking();
  const askedAt: number[] = [];
  for (let second = 0; second <= 200; second++) {
    const before = state.asked;
    if (second === 150) state.answers = [['n1', 0]];
    await tick(second * 1_000);
    if (state.asked > before) askedAt.push(second);
  }
  t.same(askedAt, [0, 1, 3, 7, 15, 31, 63, 123, 183, 193]);
});
