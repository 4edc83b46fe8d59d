import fc from 'fast-check';
import { test } from 'tap';
import type { StreamOptions } from '../../src/stream/options.js';
import { type Client, Harness, REAL_TIME, SIGNED_REAL_TIME } from './harness.js';

const IDS = [9, 2, 700, 65_535];
const HOUR_NS = 3_600_000_000_000n;
const MS = 1_000_000n;
const CLIENTS = 5;
const KINDS: readonly StreamOptions[] = [
  REAL_TIME,
  SIGNED_REAL_TIME,
  { ...REAL_TIME, marketStatus: true },
  { ...REAL_TIME, channel: '10ms' },
  { ...SIGNED_REAL_TIME, channel: '20ms' },
];

/** What a client of the streams may expect, kept by the plainest means. */
class Expectation {
  readonly subscribed = new Set<number>();
  /** `real_time`: per asset, changes of its price that it was told of, or 0 when it is to be told whatever it is. */
  readonly toldOf = new Map<number, number>();
  readonly values = new Map<number, bigint>();
  isReading = true;
  #seen = 0;
  #lastTs = 0n;
  #lastSentAtNs: bigint | undefined;

  constructor(
    readonly client: Client,
    readonly options: StreamOptions,
  ) {}

  get isRealTime(): boolean {
    return this.options.channel === 'real_time';
  }

  /** Takes in what came since the last look. */
  check(real: Real): void {
    const frames = this.client.frames.slice(this.#seen);
    this.#seen = this.client.frames.length;
    for (const { ts, prices, sentAtNs } of frames) {
      assert(ts > this.#lastTs, 'ts grows');
      this.#lastTs = ts;
      assert(prices.size > 0, 'a frame has assets');
      const ids = [...prices.keys()];
      assert(
        ids.every((id, i) => i === 0 || id > ids[i - 1]!),
        'assets ascend',
      );
      assert(
        ids.every((id) => this.subscribed.has(id)),
        'only what is subscribed',
      );
      for (const [id, price] of prices) this.#take(id, price, real);
      if (!real.signsLater) this.#checkNewest(prices, real);
      if (this.isRealTime && !real.signsLater && this.#lastSentAtNs !== undefined) {
        const passedNs = sentAtNs - this.#lastSentAtNs;
        assert(passedNs >= MS || passedNs < 0n, `frames ${passedNs} ns apart`);
      }
      this.#lastSentAtNs = sentAtNs;
    }
  }

  /** What is made and sent in one go is the newest, and all of it on a fixed channel. */
  #checkNewest(prices: ReadonlyMap<number, bigint>, { live }: Real): void {
    for (const [id, price] of prices) assert(live.get(id) === price, `asset ${id} is live at ${price}`);
    const due = [...this.subscribed].filter((id) => live.has(id));
    assert(this.isRealTime || due.length === prices.size, 'a fixed channel sends all live assets');
  }

  #take(id: number, price: bigint, real: Real): void {
    const before = this.isRealTime ? (this.toldOf.get(id) ?? 0) : 0;
    // The earliest change after the last one it was told of that this may be.
    const told = (real.history.get(id) ?? []).indexOf(price, before) + 1;
    assert(told > 0, `asset ${id} never was ${price}, or is repeated unchanged`);
    this.toldOf.set(id, told);
    this.values.set(id, price);
  }

  /** After everything has come to rest, it knows the live prices of its set. */
  checkAtRest(real: Real): void {
    for (const id of this.subscribed) {
      const price = real.live.get(id);
      if (price !== undefined) assert(this.values.get(id) === price, `asset ${id} is ${price} at rest`);
    }
  }
}

interface Real {
  readonly harness: Harness;
  readonly signsLater: boolean;
  readonly clients: (Expectation | undefined)[];
  readonly live: Map<number, bigint>;
  /** Every price that each asset has had. A price that ended and came back is there twice. */
  readonly history: Map<number, bigint[]>;
}

function assert(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

type Step =
  | { kind: 'connect'; slot: number; options: StreamOptions }
  | { kind: 'subscribe' | 'unsubscribe'; slot: number; ids: number[] }
  | { kind: 'hang up' | 'stop reading' | 'read' | 'read some'; slot: number }
  | { kind: 'price'; id: number; price: bigint | undefined }
  | { kind: 'end turn' }
  | { kind: 'pass'; durationNs: bigint }
  | { kind: 'step back' }
  | { kind: 'sign'; outcome: 'signed' | 'failed' };

const slot = fc.nat(CLIENTS - 1);
const ids = fc.subarray(IDS, { minLength: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('connect' as const), slot, options: fc.constantFrom(...KINDS) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('subscribe' as const, 'subscribe' as const, 'unsubscribe' as const),
      slot,
      ids,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'hang up' as const,
        'stop reading' as const,
        'read' as const,
        'read some' as const,
      ),
      slot,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('price' as const),
      id: fc.constantFrom(...IDS),
      price: fc.oneof({ weight: 8, arbitrary: fc.bigInt({ min: -2n, max: 3n }) }, fc.constant(undefined)),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: 'end turn' as const }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      durationNs: fc.constantFrom(1n, 300_000n, MS, MS, 3n * MS, 10n * MS),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'step back' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('sign' as const),
      outcome: fc.constantFrom('signed' as const, 'signed' as const, 'signed' as const, 'failed' as const),
    }),
  },
);

async function take(real: Real, command: Step): Promise<void> {
  const { harness, clients } = real;
  const expectation = 'slot' in command ? clients[command.slot] : undefined;
  switch (command.kind) {
    case 'connect':
      if (expectation === undefined)
        clients[command.slot] = new Expectation(harness.connect(command.options), command.options);
      break;
    case 'subscribe':
      for (const id of command.ids) {
        // Newly subscribed assets come as a snapshot, changed or not.
        if (expectation && !expectation.subscribed.has(id)) expectation.toldOf.delete(id);
        expectation?.subscribed.add(id);
      }
      expectation?.client.subscribe(...command.ids);
      break;
    case 'unsubscribe':
      expectation?.client.unsubscribe(...command.ids);
      for (const id of command.ids) expectation?.subscribed.delete(id);
      break;
    case 'hang up':
      expectation?.client.hangUp();
      clients[command.slot] = undefined;
      break;
    case 'stop reading':
      expectation?.client.stopReading();
      break;
    case 'read':
      expectation?.client.read();
      break;
    case 'read some':
      expectation?.client.read(10);
      break;
    case 'price':
      setPrice(real, command.id, command.price);
      break;
    case 'end turn':
      harness.endTurn();
      break;
    case 'pass':
      harness.engine.tick(harness.clock.advance(command.durationNs));
      break;
    case 'step back':
      harness.clock.advance(-HOUR_NS);
      break;
    case 'sign':
      if (harness.signing > 0) await harness.finishSigning(command.outcome);
      break;
  }
}

function setPrice({ harness, live, history }: Real, id: number, price: bigint | undefined): void {
  if (price === undefined) live.delete(id);
  else if (live.get(id) !== price) {
    live.set(id, price);
    history.set(id, [...(history.get(id) ?? []), price]);
  }
  harness.price(id, price);
}

function checkAll(real: Real): void {
  for (const expectation of real.clients) expectation?.check(real);
}

/** Everybody reads, every signature comes, and time passes until nothing is pending. */
async function comeToRest(real: Real): Promise<void> {
  for (const expectation of real.clients) expectation?.client.read();
  checkAll(real);
  for (let ms = 0; ms < 45; ms++) {
    real.harness.advanceMs(1);
    checkAll(real);
    while (real.harness.signing > 0) await real.harness.finishSigning();
    checkAll(real);
  }
}

for (const signsLater of [false, true]) {
  const how = signsLater ? 'later' : 'at once';
  test(`with signatures ${how}, every client ends with the live prices of its set and saw nothing wrong`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
        const harness = new Harness({ ids: IDS, signsLater });
        const real: Real = {
          harness,
          signsLater,
          clients: new Array(CLIENTS).fill(undefined),
          live: new Map(),
          history: new Map(),
        };
        for (const command of steps) {
          await take(real, command);
          checkAll(real);
        }
        await comeToRest(real);
        for (const expectation of real.clients) expectation?.checkAtRest(real);
        const isNew = new Set(real.clients.map((one) => one?.client.frames.length));
        await comeToRest(real);
        for (const one of real.clients)
          assert(!one?.isRealTime || isNew.has(one.client.frames.length), 'real_time is silent at rest');
        for (const one of real.clients) one?.client.hangUp();
        assert(harness.engine.groupCount === 0 && !harness.engine.hasRealTime, 'no group is left');
      }),
      { numRuns: 1000 },
    );
  });
}
