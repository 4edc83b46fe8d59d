import { type Test, test } from 'tap';
import type { RangeQuestion } from '../../../src/log/past/past_question.js';
import { LOSS_ENTRY } from '../../../src/log/store/log_entries.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import type { OlderAnswer, OlderPrices, OlderRows } from '../../../src/server/routes/older_prices.js';
import { aggregatesOf, HOUR_START_NS, textOf } from '../../log/past/sample_past.js';
import { entryOf } from '../../log/past/signed_past.js';
import { openPast, SECOND_NS } from './opened_past.js';

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
async function openRoutes(t: Test, older: OlderPrices, hole: readonly [number, number] = [0, OWN]) {
  const past = await openPast(t, { older });
  past.add(ALL.slice(0, hole[0]));
  await past.commit();
  if (hole[0] > 0) past.writer.log.append(LOSS_ENTRY);
  past.add(ALL.slice(hole[1]));
  await past.commit();
  /** Returns the rows of each answer, until no answer has an address of the next one. */
  const answersFrom = async (begin: number) => {
    const answers: (readonly string[])[] = [];
    let query: Record<string, string | bigint> = { asset: 'BTCUSD', from: TIMES[begin]!, to: END_NS };
    for (;;) {
      const answer = await past.range(query);
      if ('error' in answer || answers.length > 5) throw new Error('no rows, or no end');
      answers.push(answer.rows);
      if (answer.next === undefined) return answers;
      query = Object.fromEntries(answer.next);
    }
  };
  return { ...past, answersFrom };
}

const texts = (begin: number, end?: number) => ALL.slice(begin, end).map(textOf);

test('an instant before the own past is answered by another node', async (t) => {
  const { at } = await openRoutes(t, wholePast());
  for (const i of [0, OWN - 1, OWN, 30])
    t.same(await at('BTCUSD', TIMES[i]!), { data: `{"BTCUSD":${textOf(ALL[i]!)}}` });
  t.match(await at('BTCUSD', HOUR_START_NS - SECOND_NS), { status: 404 });
});

test('a range that begins before the own past comes in answers of another node, and then of its own', async (t) => {
  const older = wholePast(8);
  const { range, answersFrom } = await openRoutes(t, older);
  t.same(await answersFrom(0), [texts(0, 8), texts(8, 16), texts(16, OWN), texts(OWN)]);
  t.same(
    older.asked.map(({ toNs, withInputs }) => [toNs, withInputs]),
    Array(3).fill([TIMES[OWN], true]),
  );
  older.asked.length = 0;
  await range({ asset: 'BTCUSD', from: HOUR_START_NS, to: END_NS, every: '1m', detail: 'price' });
  const minuteNs = 60n * SECOND_NS;
  const endNs = (TIMES[OWN]! / minuteNs + 1n) * minuteNs;
  t.match(older.asked, [{ toNs: endNs, withInputs: false }], 'an interval comes from one node');
});

test('a part that a node missed in the middle of its past is answered by another node, or refused', async (t) => {
  const [first, end] = [10, 25];
  const older = wholePast();
  const { at, range, answersFrom } = await openRoutes(t, older, [first, end]);
  for (const [i, one] of ALL.entries())
    t.same(await at('BTCUSD', TIMES[i]!), { data: `{"BTCUSD":${textOf(one)}}` }, `${i}`);
  for (const begin of [0, first - 1, first, end - 1, end])
    t.same((await answersFrom(begin)).flat(), texts(begin), `from ${begin}`);
  const asked = older.asked.length;
  await range({ asset: 'BTCUSD', from: TIMES[end]!, to: END_NS });
  t.equal(older.asked.length, asked, 'after the hole the own past needs no other node');

  let answer: Exclude<OlderAnswer<OlderRows>, { given: OlderRows }> = NOBODY;
  const alone = await openRoutes(t, { at: async () => answer, range: async () => answer }, [first, end]);
  const query = { asset: 'BTCUSD', from: TIMES[first]!, to: END_NS };
  const damaged = { lastNs: TIMES[end]! - 1n };
  const lost = await alone.at('BTCUSD', TIMES[first]!);
  t.match(lost, { status: 410, error: /BTCUSD are not known/, damaged });
  t.match(await alone.range(query), { status: 410, damaged, keptFromNs: TIMES[end]! });
  answer = { isBusy: true, keptFromNs: undefined };
  t.match(await alone.at('BTCUSD', TIMES[first]!), { status: 503 });
  t.match(await alone.range(query), { status: 503 });
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
