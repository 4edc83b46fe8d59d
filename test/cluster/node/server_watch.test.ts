import { test } from 'tap';
import type { LogReport } from '../../../src/cluster/log/log_servers.js';
import { ServerWatch } from '../../../src/cluster/node/server_watch.js';
import type { TimeNs } from '../../../src/model/time.js';

function watching() {
  const state = {
    report: undefined as Partial<LogReport> | undefined,
    jumpNs: 0n,
    asked: 0,
    problem: undefined as string | undefined,
    gone: [] as readonly string[],
    told: [] as (readonly string[])[],
  };
  const answer = async () => {
    state.asked++;
    if (state.report === undefined) throw new Error('the servers elect a leader');
    const log = { currentCopies: 3, clockAheadMs: 0, clockErrorMs: 0, ...state.report };
    return { goneStreams: state.gone, disks: undefined, ...(state.gone.includes('log') ? {} : { log }) };
  };
  const watch = new ServerWatch({
    servers: {
      get serverProblem() {
        return state.problem;
      },
      serverReport: answer,
    },
    onForgetful: () => {},
    asksDisks: false,
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
  state.gone = [];
  await tick(40_000);
  t.same(state.told, [['candles'], ['log', 'candles'], []]);
});

test('a clock is wrong when it is certainly more than a second off', async (t) => {
  const { watch, state, tick } = watching();
  const cases: [Partial<LogReport>, number, RegExp | undefined][] = [
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
  t.equal(watch.latestNs(), undefined);
  state.report = { clockErrorMs: 3 };
  await tick(0);
  state.jumpNs = hourNs;
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
});

test('a log without a leader for longer than an election takes is named', async (t) => {
  const { watch, state, tick } = watching();
  await tick(0);
  t.equal(watch.isClockRight, undefined, 'not known');
  state.report = {};
  await tick(1_000);
  t.same([state.asked, watch.isClockRight, watch.logCopies], [2, true, 3], 'asked again soon');
  state.problem = 'the NATS server at x takes only small messages';
  t.equal(watch.leaderless, state.problem, 'at once');
  state.problem = undefined;
  state.report = undefined;
  await tick(10_999);
  t.equal(state.asked, 2);
  for (const ms of [11_000, 20_999]) {
    await tick(ms);
    t.equal(watch.leaderless, undefined, 'an election may take so long');
  }
  t.equal(watch.logCopies, 3, 'servers that elect a leader say nothing new');
  await tick(21_000);
  t.match(watch.leaderless, /no NATS server has led the log for 10 s/);
  state.report = {};
  await tick(22_000);
  t.equal(watch.leaderless, undefined);
});
