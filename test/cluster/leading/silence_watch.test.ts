import { test } from 'tap';
import { SilenceWatch } from '../../../src/cluster/leading/silence_watch.js';
import { DEFAULT_TIMING } from '../../../src/cluster/timing.js';

const TIMING = { ...DEFAULT_TIMING, leaseMs: 1_000, tickLeaseMs: 12_000 };
const STEP_MS = 100;

interface Way {
  readonly reports?: boolean;
  readonly records?: boolean;
  /** The ticks. `false`: no ticks arrive. `undefined`: this node leads. */
  readonly ticks?: boolean | undefined;
}

/** Sends reports and records to a node for some time. @returns the times in ms at which the node changes to another server */
function movesOf(ms: number, { reports = true, records = true, ticks }: Way): number[] {
  let nowMs = 0;
  let appliedMs = 0;
  let tickMs = 0;
  const moves: number[] = [];
  const watch = new SilenceWatch({
    timing: TIMING,
    nowMs: () => nowMs,
    appliedMs: () => appliedMs,
    tickMs: () => (ticks === undefined ? undefined : tickMs),
    bus: { reconnect: () => moves.push(nowMs) },
  });
  for (; nowMs <= ms; nowMs += STEP_MS) {
    if (reports) watch.received();
    if (records) appliedMs = nowMs;
    if (ticks) tickMs = nowMs;
    watch.tick(nowMs);
  }
  return moves;
}

test('a node stays where everything comes', async (t) => {
  t.same(movesOf(60_000, { ticks: true }), []);
  t.same(movesOf(60_000, {}), [], 'it leads');
});

test('a node that hears nothing goes to another server, and to the next', async (t) => {
  const moves = movesOf(3 * TIMING.silenceMs, { reports: false, records: false, ticks: false });
  t.same(
    moves,
    [1, 2, 3].map((n) => n * TIMING.silenceMs),
  );
});

test('a node that hears others, and no log, goes to another server, and then stays for a tick lease', async (t) => {
  t.same(movesOf(29_000, { records: false, ticks: true }), [4_000, 16_000, 28_000]);
  t.same(movesOf(29_000, { records: false, ticks: false }), [4_000, 16_000, 28_000]);
  t.same(movesOf(29_000, { records: false }), [4_000, 16_000, 28_000], 'it leads');
});

test('a node that has the log and no prices goes where both come', async (t) => {
  t.same(movesOf(4_000, { ticks: false }), [TIMING.silenceMs, 2 * TIMING.silenceMs]);
});
