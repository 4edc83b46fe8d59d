import fc from 'fast-check';
import { test } from 'tap';
import type { StreamQuery } from '../../src/stream/stream_options.js';
import { maskOf } from '../../src/wire/attribute_facts.js';
import { cases } from '../tier.js';
import { assert, Expectation, type Real } from './expectation.js';
import { Harness, REAL_TIME, SIGNED_REAL_TIME } from './harness.js';

const IDS = [9, 2, 700, 65_535];
const HOUR_NS = 3_600_000_000_000n;
const MS = 1_000_000n;
const CLIENTS = 5;
const STEPS_BACK_MAX = 6;
const TEN_MS: StreamQuery = { ...REAL_TIME, channel: '10ms' };
const KINDS: readonly StreamQuery[] = [
  REAL_TIME,
  SIGNED_REAL_TIME,
  { ...REAL_TIME, mask: maskOf(['ms']) },
  TEN_MS,
  { ...SIGNED_REAL_TIME, channel: '20ms' },
  { ...SIGNED_REAL_TIME, binary: true },
];

const slot = fc.nat(CLIENTS - 1);
const ids = fc.subarray(IDS, { minLength: 1 });
const kind = <const Kind extends string>(name: Kind) => fc.constant(name);
/** Returns a step that occurs in proportion to its weight. */
const weighted = <Fields extends object>(
  weight: number,
  model: { [Key in keyof Fields]: fc.Arbitrary<Fields[Key]> },
) => ({
  weight,
  arbitrary: fc.record<Fields>(model),
});
const newPrice = fc.oneof({ weight: 8, arbitrary: fc.bigInt({ min: -2n, max: 3n }) }, fc.constant(undefined));
const duration = fc.constantFrom(1n, 300_000n, MS, MS, 3n * MS, 10n * MS);
const outcome = fc.constantFrom('signed' as const, 'signed' as const, 'signed' as const, 'failed' as const);
const step = fc.oneof(
  weighted(2, { kind: kind('connect'), slot, options: fc.constantFrom(...KINDS) }),
  weighted(3, { kind: kind('subscribe'), slot, ids }),
  weighted(1, { kind: kind('unsubscribe'), slot, ids }),
  weighted(1, { kind: kind('hang up'), slot }),
  weighted(1, { kind: kind('stop reading'), slot }),
  weighted(1, { kind: kind('read'), slot, bytes: fc.constantFrom(undefined, 10) }),
  weighted(6, { kind: kind('price'), id: fc.constantFrom(...IDS), price: newPrice }),
  weighted(3, { kind: kind('message applied') }),
  weighted(4, { kind: kind('end turn') }),
  weighted(6, { kind: kind('pass'), durationNs: duration }),
  weighted(1, { kind: kind('step back') }),
  weighted(3, { kind: kind('sign'), outcome }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

async function take(real: Real, command: Step): Promise<void> {
  const { harness, clients } = real;
  const expectation = 'slot' in command ? clients[command.slot] : undefined;
  switch (command.kind) {
    case 'connect':
      if (expectation === undefined)
        clients[command.slot] = new Expectation(harness.connect(command.options), command.options);
      break;
    case 'subscribe':
      expectation?.subscribe(command.ids);
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
      expectation?.client.read(command.bytes);
      break;
    case 'price':
      setPrice(real, command.id, command.price);
      break;
    case 'message applied':
      harness.engine.messageApplied();
      break;
    case 'end turn':
      harness.endTurn();
      break;
    case 'pass':
      harness.pass(command.durationNs);
      break;
    case 'step back':
      // The number of steps is limited, because signed frames wait for the clock after too many steps.
      if (real.stepsBack++ < STEPS_BACK_MAX) harness.clock.advance(-HOUR_NS);
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

/** Lets all clients read, finishes all signatures, and advances the time until nothing is pending. */
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

/**
 * Steps for a connection that receives no frame before a step back. This connection is the second member of a group that has
 * already sent a frame.
 */
const JOINED_BEFORE_STEP_BACK: Step[] = [
  { kind: 'connect', slot: 0, options: TEN_MS },
  { kind: 'connect', slot: 1, options: TEN_MS },
  { kind: 'subscribe', slot: 0, ids: [2, 9] },
  { kind: 'price', id: 9, price: 0n },
  { kind: 'pass', durationNs: 10n * MS },
  { kind: 'subscribe', slot: 1, ids: [2, 9] },
  { kind: 'step back' },
  { kind: 'hang up', slot: 0 },
];

for (const signsLater of [false, true]) {
  const how = signsLater ? 'later' : 'at once';
  test(`with signatures ${how}, every client ends with the live prices of its set and gets no wrong frame`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
        const harness = new Harness({ ids: IDS, signsLater });
        const real: Real = {
          harness,
          signsLater,
          clients: new Array(CLIENTS).fill(undefined),
          live: new Map(),
          history: new Map(),
          stepsBack: 0,
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
        assert(harness.engine.groupCount === 0, 'no group is left');
        harness.advanceMs(250);
        assert(harness.engine.nextDueNs(harness.clock.nowNs()) === undefined, 'nor is any tick due');
        assert(!harness.times.hasEarlier && harness.times.current().connections === 0, 'nor any in an era');
      }),
      { numRuns: cases(1000), examples: [[JOINED_BEFORE_STEP_BACK]] },
    );
  });
}
