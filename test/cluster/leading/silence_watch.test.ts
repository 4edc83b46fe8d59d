import { test } from 'tap';
import { SilenceWatch } from '../../../src/cluster/leading/silence_watch.js';
import { DEFAULT_TIMING } from '../../../src/cluster/timing.js';

const TIMING = { ...DEFAULT_TIMING, leaseMs: 1_000, tickLeaseMs: 12_000 };
const STEP_MS = 100;
const STALL_MS = 5_000;

interface Way {
  readonly reports?: boolean;
  readonly records?: boolean;
  /** The ticks. `false`: no ticks arrive. `undefined`: this node leads. */
  readonly ticks?: boolean | undefined;
  /** True when an aggregator reports more records than this node has applied. */
  readonly ahead?: boolean;
  /** The times in ms at which a stall of the process ends, 5 s long. A stalled process checks the silence once before it reads the messages. */
  readonly stalls?: readonly number[];
}

/** Sends reports and records to a node for some time. @returns the times in ms at which the node changes to another server */
function movesOf(ms: number, way: Way): number[] {
  const { reports = true, records = true, ticks, ahead = false, stalls = [] } = way;
  let nowMs = 0;
  let appliedMs = 0;
  let tickMs = 0;
  const moves: number[] = [];
  const watch = new SilenceWatch({
    timing: TIMING,
    nowMs: () => nowMs,
    applied: () => ({ position: { sequence: 1, id: 'r1' }, appliedMs }),
    others: () => ({
      appliedMax: ahead ? 2 : 1,
      appliedMaxMs: ahead ? nowMs : Number.NEGATIVE_INFINITY,
      isOneMissing: false,
    }),
    tickMs: () => (ticks === undefined ? undefined : tickMs),
    claimingMs: () => undefined,
    bus: { reconnect: () => moves.push(nowMs) },
  });
  for (; nowMs <= ms; nowMs += STEP_MS) {
    const endsMs = stalls.find((endMs) => nowMs > endMs - STALL_MS && nowMs < endMs);
    if (endsMs !== undefined) {
      nowMs = endsMs;
      watch.tick(nowMs);
    }
    if (reports) watch.received();
    if (records) {
      appliedMs = nowMs;
      watch.applied(false);
    }
    if (ticks) tickMs = nowMs;
    watch.tick(nowMs);
  }
  return moves;
}

for (const [name, ms, way, moves] of [
  ['a node stays where everything comes', 60_000, { ticks: true }, []],
  [
    'a node that hears nothing goes to another server, first for want of ticks, and to the next',
    4_500,
    { reports: false, records: false, ticks: false },
    [1_200, 2_800],
  ],
  [
    'a node that hears others, and no log, goes to another server, and then stays for a tick lease',
    29_000,
    { records: false, ticks: true },
    [4_100, 16_200, 28_300],
  ],
  ['of the nodes without a log the leader goes first', 26_000, { records: false }, [1_600, 13_700, 25_800]],
  [
    'a node without a log that others have goes from server to server',
    4_500,
    { records: false, ticks: true, ahead: true },
    [1_600, 3_200],
  ],
  ['a node that has the log and no ticks goes where both come', 3_000, { ticks: false }, [1_200, 2_400]],
  [
    'a node that was stalled reads what has arrived before it changes its server',
    11_300,
    { ticks: true, stalls: [5_000, 10_000] },
    [],
  ],
] as const)
  test(name, async (t) => {
    t.same(movesOf(ms, way), moves);
  });
