import { test } from 'tap';
import type { LogReport, ServerDisk } from '../../../src/cluster/log/log_servers.js';
import { ServerWatch } from '../../../src/cluster/node/server_watch.js';
import type { TimeNs } from '../../../src/model/time.js';

function watching() {
  const state = {
    report: undefined as Partial<LogReport> | undefined,
    jumpNs: 0n,
    asked: 0,
    problem: undefined as string | undefined,
    gone: [] as readonly string[],
    disks: undefined as readonly ServerDisk[] | undefined,
    doubts: [] as (string | undefined)[],
    told: [] as (readonly string[])[],
  };
  const answer = async () => {
    state.asked++;
    if (state.report === undefined) throw new Error('the servers elect a leader');
    const log = { currentCopies: 3, clockAheadMs: 0, clockErrorMs: 0, ...state.report };
    return { goneStreams: state.gone, disks: state.disks, ...(state.gone.includes('log') ? {} : { log }) };
  };
  const watch = new ServerWatch({
    servers: {
      get serverProblem() {
        return state.problem;
      },
      serverReport: answer,
    },
    onForgetful: (reason) => state.doubts.push(reason),
    asksDisks: true,
    clock: {
      nowNs: () => 0n as TimeNs,
      get jumpNs() {
        return state.jumpNs;
      },
    },
    onGoneStreams: (reasons) => state.told.push(reasons),
  });
  return {
    watch,
    state,
    async tick(nowMs: number) {
      watch.tick(nowMs);
      for (let turn = 0; turn < 20; turn++) await undefined;
    },
  };
}

test('the servers are asked every ten seconds', async (t) => {
  const { watch, state, tick } = watching();
  await tick(0);
  t.equal(watch.logCopies, undefined);
  t.equal(watch.isClockRight, undefined, 'not known');
  state.report = {};
  await tick(999);
  t.equal(state.asked, 1);
  await tick(1_000);
  t.equal(state.asked, 2, 'soon again, as nobody has answered');
  t.equal(watch.isClockRight, true);
  await tick(10_999);
  t.equal(state.asked, 2);
  await tick(11_000);
  t.equal(state.asked, 3);
  t.equal(watch.logCopies, 3);
  state.report = undefined;
  await tick(21_000);
  t.equal(watch.logCopies, 3, 'servers that elect a leader say nothing new');
});

test('streams that were deleted are named once, until the servers have them again', async (t) => {
  const { watch, state, tick } = watching();
  state.report = {};
  await tick(0);
  t.same(watch.goneStreams, []);
  state.gone = ['candles'];
  await tick(10_000);
  await tick(20_000);
  t.same(watch.goneStreams, ['candles']);
  state.gone = ['log', 'candles'];
  await tick(30_000);
  t.same(watch.goneStreams, ['log', 'candles']);
  t.equal(watch.logCopies, 3, 'servers without the log say nothing new about it');
  state.report = undefined;
  await tick(40_000);
  t.same(watch.goneStreams, ['log', 'candles'], 'servers that elect a leader say nothing new');
  state.report = {};
  state.gone = [];
  await tick(50_000);
  t.same(state.told, [['candles'], ['log', 'candles'], []]);
  t.equal(watch.leaderless, undefined);
});

test('a clock is wrong when it is certainly more than a second off', async (t) => {
  const { watch, state, tick } = watching();
  const cases: [Partial<LogReport>, number, RegExp | undefined][] = [
    [{ clockAheadMs: 1_000 }, 0, undefined],
    [{ clockAheadMs: -1_300, clockErrorMs: 301 }, 0, undefined],
    [{ clockAheadMs: -1_300, clockErrorMs: 299 }, 1_300, /the clock is 1\.3 s ahead of the NATS servers/],
    [{ clockAheadMs: 3_600_000 }, -3_600_000, /the clock is 3600\.0 s behind the NATS servers/],
    [{ clockAheadMs: Number.NaN }, 0, undefined],
  ];
  for (const [place, [report, wrongMs, reason]] of cases.entries()) {
    state.report = report;
    await tick(place * 10_000);
    t.equal(watch.clockWrongMs, wrongMs);
    const said = watch.trouble.reason(0n as TimeNs);
    if (reason === undefined) t.equal(said, undefined);
    else t.match(said, reason);
  }
});

test('during a jump of the wall clock the servers are asked every second, and say whether it is right', async (t) => {
  const { watch, state, tick } = watching();
  const hourNs = 3_600_000_000_000n;
  t.equal(watch.confirmsJump(hourNs), false, 'not known');
  t.equal(watch.latestNs(), undefined);
  state.report = { clockErrorMs: 3 };
  await tick(0);
  state.jumpNs = hourNs;
  await tick(999);
  t.equal(state.asked, 1);
  await tick(1_000);
  t.equal(state.asked, 2);
  t.equal(watch.confirmsJump(hourNs), false, 'the clock was right before');
  t.equal(watch.latestNs(), 1_003_000_000n);
  state.report = { clockAheadMs: 3_600_500 };
  await tick(2_000);
  t.equal(watch.confirmsJump(hourNs), true);
  t.equal(watch.confirmsJump(-hourNs), false);
  state.jumpNs = 0n;
  state.report = {};
  await tick(3_000);
  t.equal(watch.isClockRight, true, 'asked soon after it');
  await tick(4_000);
  t.equal(state.asked, 4);
});

test('a change of what a power cut may lose is told once', async (t) => {
  const { watch, state, tick } = watching();
  state.report = {};
  await tick(0);
  t.match(watch.forgetful, /have not said yet/);
  state.disks = [{ server: 'n1', isAway: false, syncMs: 0 }];
  await tick(10_000);
  await tick(20_000);
  state.disks = [{ server: 'n1', isAway: false, syncMs: 1_000 }];
  await tick(30_000);
  await tick(40_000);
  t.match(state.doubts, { length: 2, 0: undefined, 1: /^NATS server n1 may forget/ });
  t.equal(watch.forgetful, state.doubts[1]);
  t.equal(watch.forgetfulServers, 1);
});

test('a server that cannot be used is named at once', async (t) => {
  const { watch, state, tick } = watching();
  state.report = {};
  await tick(0);
  state.problem = 'the NATS server at x takes only small messages';
  t.equal(watch.leaderless, state.problem);
  state.problem = undefined;
  t.equal(watch.leaderless, undefined);
});

test('a log without a leader for longer than an election takes is named', async (t) => {
  const { watch, state, tick } = watching();
  state.report = {};
  await tick(0);
  state.report = undefined;
  await tick(10_000);
  t.equal(watch.leaderless, undefined);
  await tick(11_000);
  t.equal(state.asked, 3, 'asked again soon');
  await tick(19_999);
  t.equal(watch.leaderless, undefined, 'an election may take so long');
  await tick(20_000);
  t.match(watch.leaderless, /no NATS server has led the log for 10 s/);
  state.report = {};
  await tick(21_000);
  t.equal(watch.leaderless, undefined);
});
