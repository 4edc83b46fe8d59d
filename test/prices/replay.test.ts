import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { test } from 'tap';
import { decodeAcceptedInput, encodeAcceptedInput } from '../../src/log/records/accepted_input.js';
import { SeenWindow } from '../../src/log/records/seen_window.js';
import type { SeenUpdates } from '../../src/model/seen_updates.js';
import { NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { hashKeyOf, ReplayRules, SEEN_UPDATES_MAX, type SignedUpdate } from '../../src/prices/replay.js';
import { START_NS, sampleAsset, sampleInput, samplePublisher } from '../model/sample.js';
import { cases } from '../tier.js';

/** The pairs of the property. All windows are in the same block of memory. */
const PAIRS = 4;
const MAX_BACKWARD_NS = 2n * NS_PER_SECOND;
/** The latest accepted time, after all times of the tests. */
const LATEST_NS = START_NS + 60n * NS_PER_SECOND;

const REPLAY = 'replay: timestamp is not newer than the one that this update was accepted with';
const FOREIGN = 'replay: another token or key sent this update first, and only that one can refresh it';
const TOO_FAR_BACK = 'timestamp is further behind the newest accepted one than ingest.max_backward';
const NOT_NEWER = 'timestamp is not newer than the last accepted one';
const SUPERSEDED = 'replay: another update came after this one in the same second';

interface HashedUpdate extends SignedUpdate {
  readonly msgHash: Buffer;
}

/** Returns an update like a publisher's. The hash covers the price and the whole second. */
function updateOf(price: number, timestampNs: bigint, sender = 'alice'): HashedUpdate {
  const second = timestampNs / NS_PER_SECOND;
  const msgHash = createHash('sha256').update(`${price} ${second}`).digest();
  return {
    sender,
    timestampNs: timestampNs as TimeNs,
    second: Number(second),
    nanos: Number(timestampNs % NS_PER_SECOND),
    msgHash,
    hashKey: hashKeyOf(msgHash),
  };
}

/** The rules, and the window of one publisher and one asset. */
class Pair {
  readonly rules: ReplayRules;
  readonly window: SeenWindow;

  constructor(maxBackwardNs: bigint, window = new SeenWindow()) {
    this.rules = new ReplayRules(maxBackwardNs, START_NS);
    this.window = window;
  }

  send(update: SignedUpdate): string | undefined {
    const refusal = this.rules.check(this.window, update, LATEST_NS);
    if (refusal === undefined) this.rules.record(this.window, update, LATEST_NS);
    return refusal;
  }
}

function pairsOf(maxBackwardNs: bigint): Pair[] {
  return Array.from({ length: PAIRS }, () => new Pair(maxBackwardNs));
}

/** Returns a window in the form in which the store returns it. */
function stored(seen: SeenUpdates): SeenUpdates {
  const input = sampleInput(sampleAsset(), samplePublisher(), 1n, START_NS);
  const bytes = encodeAcceptedInput({ input, seen }, 'evm');
  return decodeAcceptedInput(bytes).seen;
}

/** The reference. The reference remembers all accepted updates, and checks all of them for each verdict. */
class Reference {
  readonly #accepted: (HashedUpdate & { readonly isRefresh: boolean; readonly maxBackwardNs: bigint })[] = [];

  /**
   * The hash of the last accepted update. After a restart, it is the hash of the last accepted update that was not a refresh.
   */
  #newest: Buffer | undefined;

  restart(): void {
    this.#newest = this.#accepted.findLast(({ isRefresh }) => !isRefresh)?.msgHash;
  }

  /** Returns the reason why the update is refused; `undefined` for an accepted update. */
  send(update: HashedUpdate, maxBackwardNs: bigint): string | undefined {
    const { timestampNs, sender } = update;
    for (const before of this.#accepted) {
      if (before.isRefresh) continue;
      const isTooOld =
        (before.maxBackwardNs === 0n && timestampNs <= before.timestampNs) ||
        timestampNs < before.timestampNs - before.maxBackwardNs;
      if (isTooOld) return maxBackwardNs === 0n ? NOT_NEWER : TOO_FAR_BACK;
    }
    const same = this.#accepted.filter(({ msgHash }) => msgHash.equals(update.msgHash));
    const isRefresh = same.length > 0;
    if (isRefresh && same[0]!.sender !== sender) return FOREIGN;
    if (same.some((before) => before.timestampNs >= timestampNs)) return REPLAY;
    if (isRefresh && maxBackwardNs === 0n && !this.#newest!.equals(update.msgHash)) return SUPERSEDED;
    this.#accepted.push({ ...update, isRefresh, maxBackwardNs });
    this.#newest = update.msgHash;
    return undefined;
  }
}

test('the rules agree with a memory of everything that was ever accepted, over restarts', async (t) => {
  const step = fc.record({
    pair: fc.oneof(fc.constant(1), fc.nat(PAIRS - 1)),
    // More different prices than there is room for in the memory that each window has.
    price: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 1, max: 3 }) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 60 }) },
    ),
    sender: fc.constantFrom('alice', 'alice', 'mallory'),
    // Time steps around the ends of the window, by nanoseconds and by seconds.
    moveNs: fc
      .tuple(
        fc.oneof(
          { weight: 4, arbitrary: fc.constant(0n) },
          fc.constantFrom(100n * NS_PER_MS, 500n * NS_PER_MS, NS_PER_SECOND, -NS_PER_SECOND / 3n),
        ),
        fc.bigInt({ min: -2n, max: 2n }),
        fc.oneof(
          { weight: 8, arbitrary: fc.constant(0n) },
          fc.constantFrom(-MAX_BACKWARD_NS, MAX_BACKWARD_NS),
        ),
      )
      .map(([a, b, c]) => a + b + c),
    restart: fc.constantFrom(false, false, false, true),
  });
  const maxBackward = fc.constantFrom(0n, 0n, 0n, 1n, 50n * NS_PER_MS, NS_PER_SECOND, MAX_BACKWARD_NS);
  const counts = new Map<string | undefined, number>();
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }),
      maxBackward,
      maxBackward,
      (steps, first, second) => {
        let maxBackwardNs = first;
        let pairs = pairsOf(maxBackwardNs);
        const references = Array.from({ length: PAIRS }, () => new Reference());
        const used = new Set<number>();
        let timeNs: bigint = START_NS;
        for (const { pair, price, sender, moveNs, restart } of steps) {
          if (restart) {
            const before = pairs;
            for (const reference of references) reference.restart();
            maxBackwardNs = second;
            pairs = pairsOf(maxBackwardNs);
            for (const one of used) pairs[one]!.window.restore(stored(before[one]!.window));
          }
          timeNs += moveNs;
          const update = updateOf(price, timeNs, sender);
          const refusal = references[pair]!.send(update, maxBackwardNs);
          if (pairs[pair]!.send(update) !== refusal) return false;
          if (refusal === undefined) used.add(pair);
          counts.set(refusal, (counts.get(refusal) ?? 0) + 1);
        }
        return true;
      },
    ),
    { numRuns: cases(500) },
  );
  for (const outcome of [undefined, NOT_NEWER, TOO_FAR_BACK, FOREIGN, REPLAY, SUPERSEDED])
    t.ok(counts.get(outcome)! > cases(5), `${counts.get(outcome)} of ${outcome ?? 'accepted'}`);
});

test('the window holds its limit of different updates, and refreshes besides', async (t) => {
  const pair = new Pair(MAX_BACKWARD_NS);
  let refused = 0;
  for (let i = 1; i <= SEEN_UPDATES_MAX; i++)
    if (pair.send(updateOf(i, START_NS + BigInt(i))) !== undefined) refused++;
  t.equal(refused, 0);
  t.equal(pair.send(updateOf(20_000, START_NS + 20_000n)), REPLAY, 'every update is remembered');
  const full = `more than ${SEEN_UPDATES_MAX} updates within ingest.max_backward`;
  t.equal(pair.send(updateOf(0, START_NS + 20_000n)), full);
  t.equal(pair.send(updateOf(0, START_NS + NS_PER_SECOND)), full);
  t.equal(pair.send(updateOf(1, START_NS + 20_000n)), undefined, 'a refresh');
  t.equal(pair.send(updateOf(1, START_NS + 20_000n)), REPLAY);
  t.equal(pair.send(updateOf(0, START_NS + MAX_BACKWARD_NS + NS_PER_SECOND)), undefined, 'time moved on');
  t.equal(pair.send(updateOf(0, START_NS + 2n * NS_PER_SECOND)), undefined, 'and so there is room again');
  t.equal(pair.send(updateOf(2, START_NS + 30_000n)), TOO_FAR_BACK);
});

test('a window that a wrong clock put ahead does not count, and nothing from before the step back is taken', async (t) => {
  for (const maxBackwardNs of [0n, MAX_BACKWARD_NS]) {
    const pair = new Pair(maxBackwardNs);
    const aheadNs = START_NS + 3_600n * NS_PER_SECOND;
    const ahead = updateOf(1, aheadNs);
    pair.rules.record(pair.window, ahead, aheadNs);
    t.equal(pair.send(updateOf(2, START_NS)), undefined, 'it is ahead of the latest time that counts');
    t.equal(pair.send(updateOf(2, START_NS)), maxBackwardNs === 0n ? NOT_NEWER : REPLAY, 'and is replaced');

    pair.rules.record(pair.window, ahead, aheadNs);
    pair.window.restore(stored(pair.window));
    const nowNs = START_NS + 10n * NS_PER_SECOND;
    pair.rules.steppedBack(nowNs as TimeNs);
    t.equal(pair.send(updateOf(3, nowNs - 1n)), NOT_NEWER, 'the time before may have been used');
    t.equal(
      pair.rules.check(pair.window, ahead, aheadNs),
      maxBackwardNs === 0n ? NOT_NEWER : REPLAY,
      'it counts if the clock comes back to it',
    );
    t.equal(pair.send(updateOf(3, nowNs)), undefined);
    t.ok(pair.send(updateOf(4, nowNs - 1n)), 'not even within max_backward');
  }
});
