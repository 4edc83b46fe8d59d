import { type Test, test } from 'tap';
import type { RangeQuestion } from '../../../src/log/past/past_question.js';
import { LOSS_ENTRY } from '../../../src/log/store/log_entries.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import { Token } from '../../../src/server/access/tokens.js';
import { openLoopTurns } from '../../../src/server/rest/loop_turns.js';
import type { Route } from '../../../src/server/rest/route.js';
import { instantRoutes } from '../../../src/server/routes/instant_route.js';
import type { OlderAnswer, OlderPrices, OlderRows } from '../../../src/server/routes/older_prices.js';
import { PastAccess } from '../../../src/server/routes/past_access.js';
import { rangeRoutes } from '../../../src/server/routes/range_route.js';
import { keptSignedPrice } from '../../../src/server/schemas/past_schemas.js';
import { aggregatedSignedPrice } from '../../../src/server/schemas/value_schemas.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { aggregatesOf, HOUR_START_NS, holdingOfAggregate, textOf } from '../../log/past/sample_past.js';
import { entryOf } from '../../log/past/signed_past.js';
import { readerOf, WrittenPast } from '../../log/past/written_past.js';
import { sampleAsset } from '../../log/store/sample.js';
import { sampleToken } from '../access/sample_tokens.js';

const SECOND_NS = 1_000_000_000n;
const BTC = sampleAsset(0, { symbol: 'BTCUSD' });
const ALL = [...aggregatesOf('BTCUSD', HOUR_START_NS, 40, { stepNs: SECOND_NS })];
const OWN = 20;
const TIMES = ALL.map(({ signedAtNs }) => signedAtNs);
const END_NS = HOUR_START_NS + 600n * SECOND_NS;
const NOBODY = { isBusy: false, keptFromNs: undefined };

/** Returns an entry as {@link textOf} shows its aggregate. */
function shownEntry(aggregate: SignedAggregate) {
  return { ...entryOf(aggregate), line: textOf(aggregate) };
}

/** Answers from a past that has all aggregates. @param rowsMax the largest number of rows of an answer */
function wholePast(rowsMax = 1_000): OlderPrices & { readonly asked: RangeQuestion[] } {
  const asked: RangeQuestion[] = [];
  return {
    asked,
    async at(_caller, names, atNs) {
      const last = ALL.findLast(({ signedAtNs }) => signedAtNs <= atNs);
      const known = names.filter(({ symbol }) => symbol === 'BTCUSD');
      return {
        given: new Map(known.flatMap((name) => (last === undefined ? [] : [[name, shownEntry(last)]]))),
      };
    },
    async range(_caller, question) {
      asked.push(question);
      const { name, fromNs, toNs } = question;
      const all = ALL.filter((one) => one.symbol === name.symbol);
      const fitting = all.filter(({ signedAtNs: timeNs }) => timeNs >= fromNs && timeNs < toNs);
      const endNs = fitting[rowsMax]?.signedAtNs ?? toNs;
      return { given: { rows: fitting.slice(0, rowsMax).map(shownEntry), endNs } };
    },
  };
}

/**
 * Opens the routes of a node whose past begins with aggregate {@link OWN}.
 * @param hole if given, the past has all aggregates except those from the first to before the second number
 */
async function openRoutes(t: Test, older: OlderPrices, hole?: readonly [number, number]) {
  const folder = t.testdir();
  const clock = new FakeClock(END_NS);
  const writer = await WrittenPast.open(folder, { clock });
  const write = async (all: readonly SignedAggregate[]) => {
    for (const aggregate of all) writer.append(aggregate, holdingOfAggregate(aggregate));
    await writer.log.durable();
  };
  if (hole === undefined) await write(ALL.slice(OWN));
  else {
    await write(ALL.slice(0, hole[0]));
    writer.log.append(LOSS_ENTRY);
    await write(ALL.slice(hole[1]));
  }
  const past = readerOf(folder);
  const options = {
    findAsset: (symbol: string) => (symbol === 'BTCUSD' ? BTC : undefined),
    past,
    newest: (_asset: AssetName) => holdingOfAggregate(ALL.at(-1)!),
    pastTurns: openLoopTurns(),
    onPastDamage: (reason: string) => t.fail(reason),
    clock,
    assetsPerRequestMax: 3,
    rangeRowsMax: 1_000,
    older,
  };
  const access = new PastAccess(options);
  const [[, at] = []] = instantRoutes(options, access, keptSignedPrice(aggregatedSignedPrice('tickseal')));
  const [[, range] = []] = rangeRoutes(options, access);
  t.teardown(async () => {
    await past.close();
    await writer.close();
  });
  const answerOf = async (route: Route, query: Record<string, string | bigint>) => {
    const texts = Object.entries(query).map(([name, value]) => [name, String(value)] as const);
    const result = route.handle(new Map(texts), new Token(sampleToken('alice')));
    const answer = 'later' in result ? await result.later : result;
    if (!('open' in answer)) return answer;
    let text = '';
    for await (const part of answer.open(async () => {})) text += Buffer.from(part).toString();
    return { text, next: /[?&]from=(\d+)/.exec(answer.headers[0]?.[1] ?? '')?.[1] };
  };
  return {
    at: (assets: string, timestamp: bigint) => answerOf(at!, { assets, timestamp }),
    range: (query: Record<string, string | bigint>) => answerOf(range!, query),
  };
}

test('an instant before the own past is answered by another node', async (t) => {
  const { at } = await openRoutes(t, wholePast());
  for (const i of [0, 7, OWN - 1, OWN, 30])
    t.same(await at('BTCUSD', TIMES[i]!), { data: `{"BTCUSD":${textOf(ALL[i]!)}}` });
  t.match(await at('BTCUSD,NOUSD', TIMES[3]!), {
    status: 400,
    error: / NOUSD; \/v1\/taxonomy lists all names$/,
  });
  t.match(await at('BTCUSD', HOUR_START_NS - SECOND_NS), { status: 404 });
});

test('a range that begins before the own past comes in answers of another node, and then of its own', async (t) => {
  const older = wholePast(8);
  const { range } = await openRoutes(t, older);
  const texts: string[] = [];
  let from: string | bigint | undefined = HOUR_START_NS;
  for (let answers = 0; from !== undefined; answers++) {
    const answer = await range({ asset: 'BTCUSD', from, to: END_NS });
    if (!('text' in answer)) throw new Error('no rows');
    texts.push(answer.text);
    from = answer.next;
    t.ok(answers < 5);
  }
  const lines = (begin: number, end: number) =>
    ALL.slice(begin, end)
      .map((one) => `${textOf(one)}\n`)
      .join('');
  t.same(texts, [lines(0, 8), lines(8, 16), lines(16, OWN), lines(OWN, 40)]);
  t.same(
    older.asked.map(({ toNs, withInputs }) => [toNs, withInputs]),
    Array(3).fill([TIMES[OWN], true]),
  );
  older.asked.length = 0;
  await range({ asset: 'BTCUSD', from: HOUR_START_NS, to: END_NS, every: '1m', detail: 'price' });
  const minuteNs = 60n * SECOND_NS;
  const endNs = (TIMES[OWN]! / minuteNs + 1n) * minuteNs;
  t.match(older.asked, [{ toNs: endNs, withInputs: false }], 'an interval comes from one node');
  t.match(await range({ asset: 'NOUSD', from: HOUR_START_NS, to: TIMES[5]! }), {
    status: 400,
    error: / NOUSD; \/v1\/taxonomy lists all names$/,
  });
});

test('a part that a node missed in the middle of its past is answered by another node, or refused', async (t) => {
  for (const [first, end] of [
    [10, 25],
    [30, 31],
  ] as const) {
    const older = wholePast();
    const { at, range } = await openRoutes(t, older, [first, end]);
    for (const [i, one] of ALL.entries())
      t.same(
        await at('BTCUSD', TIMES[i]!),
        { data: `{"BTCUSD":${textOf(one)}}` },
        `${first} to ${end}: ${i}`,
      );
    for (const begin of [0, first - 1, first, end - 1, end]) {
      let text = '';
      let from: string | bigint | undefined = TIMES[begin]!;
      while (from !== undefined) {
        const answer = await range({ asset: 'BTCUSD', from, to: END_NS });
        if (!('text' in answer)) throw new Error('no rows');
        text += answer.text;
        from = answer.next;
      }
      const expected = ALL.slice(begin).map((one) => `${textOf(one)}\n`);
      t.same(text, expected.join(''), `${first} to ${end}: from ${begin}`);
    }
    const asked = older.asked.length;
    await range({ asset: 'BTCUSD', from: TIMES[end]!, to: END_NS });
    t.equal(older.asked.length, asked, 'after the hole the own past needs no other node');

    let answer: Exclude<OlderAnswer<OlderRows>, { given: OlderRows }> = NOBODY;
    const nobody = { at: async () => answer, range: async () => answer };
    const alone = await openRoutes(t, nobody, [first, end]);
    const query = { asset: 'BTCUSD', from: TIMES[first]!, to: END_NS };
    t.match(await alone.at('BTCUSD', TIMES[first]!), {
      status: 410,
      error: /BTCUSD are not known/,
      damaged: { lastNs: TIMES[end]! - 1n },
    });
    const lost = { damaged: { lastNs: TIMES[end]! - 1n }, keptFromNs: TIMES[end]! };
    t.match(await alone.range(query), { status: 410, ...lost });
    answer = { isBusy: true, keptFromNs: undefined };
    t.match(await alone.at('BTCUSD', TIMES[first]!), { status: 503 });
    t.match(await alone.range(query), { status: 503 });
  }
});

test('without an answer, the time is gone or the nodes are busy', async (t) => {
  let answer: Exclude<OlderAnswer<OlderRows>, { given: OlderRows }> = NOBODY;
  const { at, range } = await openRoutes(t, { at: async () => answer, range: async () => answer });
  const query = { asset: 'BTCUSD', from: TIMES[3]!, to: END_NS };
  for (const ask of [() => at('BTCUSD', TIMES[3]!), () => range(query)]) {
    answer = NOBODY;
    t.match(await ask(), { status: 410, keptFromNs: TIMES[OWN] });
    answer = { isBusy: false, keptFromNs: TIMES[9] };
    t.match(await ask(), { status: 410, keptFromNs: TIMES[9] }, 'another node has more');
    answer = { isBusy: false, keptFromNs: TIMES[30] };
    t.match(await ask(), { status: 410, keptFromNs: TIMES[OWN] }, 'another node has less');
    answer = { isBusy: true, keptFromNs: undefined };
    t.match(await ask(), { status: 503, error: /busy/ });
  }
  answer = NOBODY;
  t.match(await at('BTCUSD', TIMES[OWN]!), { data: /BTCUSD/ }, 'the own past needs no other node');
});
