import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { PastAnswerer } from '../../../src/cluster/node/past_answerer.js';
import { PastAsker } from '../../../src/cluster/node/past_asker.js';
import { createAggregateSigner } from '../../../src/crypto/aggregate_signer.js';
import { createCryptoPool } from '../../../src/crypto/pool/pool.js';
import {
  AnswerLines,
  goneAnswer,
  type ReceivedLine,
  shortAnswer,
} from '../../../src/log/past/past_answer.js';
import { encodeQuestion, type RangeQuestion } from '../../../src/log/past/past_question.js';
import { writeAggregateLine } from '../../../src/log/records/signed_line.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import type { NodeRole } from '../../../src/model/node_list.js';
import { PacedTurns } from '../../../src/model/paced_turns.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import { OtherPasts } from '../../../src/service/edge/other_pasts.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { HOUR_START_NS } from '../../log/past/sample_past.js';
import { entryOf, SERVICE_ORACLE_ID, shownText, signedAggregates } from '../../log/past/signed_past.js';
import { readerOf, WrittenPast } from '../../log/past/written_past.js';
import { SERVICE_KEYS } from '../harness.js';

const SECOND_NS = 1_000_000_000n;
const BTC: AssetName = { symbol: 'BTCUSD', signatureType: 'evm' };
const DYDX: AssetName = { symbol: 'DYDXUSD', signatureType: 'stark' };
const NONE: AssetName = { symbol: 'NONE', signatureType: 'evm' };

/** Answers a question; `undefined` for a silent node. */
type Handler = (bytes: Uint8Array, topic: string) => Promise<Uint8Array | undefined>;

const pool = await createCryptoPool({ threads: 0 });
const { publicKeys } = createAggregateSigner(SERVICE_KEYS, SERVICE_ORACLE_ID, pool);
const own = new Set(
  (['evm', 'stark'] as const).flatMap((type) =>
    publicKeys[type].map(({ text }) => `${type} ${text.toLowerCase()}`),
  ),
);

const BTCS = await signedAggregates(BTC, HOUR_START_NS, 300);
const DYDXS = await signedAggregates(DYDX, HOUR_START_NS, 12);

/** Opens node 9 that asks nodes over a simulated bus. Time passes only with the test's steps. */
function openAsker(handlers: ReadonlyMap<number, Handler>, leader = 1) {
  let nowMs = 0;
  const refused: string[] = [];
  const asked: number[] = [];
  const roleOf = (node: number): NodeRole => (node === leader ? 'leader' : 'standby');
  const nodes = [...handlers.keys(), 9].sort().map((node) => ({ node, name: 'n', role: roleOf(node) }));
  const questions = new PastAsker({
    bus: {
      async ask(topic, bytes, timeoutMs) {
        const [, about, from, to] = topic.split('.');
        asked.push(Number(to));
        if (about !== 'past' || from !== '9') throw new Error('a wrong topic');
        const answer = await handlers.get(Number(to))!(bytes, topic);
        if (answer !== undefined) return answer;
        nowMs += timeoutMs;
        throw new Error('no answer in time');
      },
    },
    nodes: () => ({ self: 9, nodes, signers: [] }),
    nowMs: () => nowMs,
  });
  const pasts = new OtherPasts({
    ask: (question, tried) => questions.ask(question, tried),
    here: pool.here,
    oracleId: SERVICE_ORACLE_ID,
    isSigner: (type, key) => own.has(`${type} ${key}`),
    inTurn: (_caller, work) => work(),
    nowMs: () => nowMs,
    onRefused: (reason) => refused.push(reason),
  });
  return { pasts, refused, asked, now: () => nowMs, pass: (ms: number) => (nowMs += ms) };
}

const rangeOf = (over: Partial<RangeQuestion> = {}): RangeQuestion => ({
  about: 'range',
  name: BTC,
  fromNs: HOUR_START_NS,
  toNs: HOUR_START_NS + 300n * SECOND_NS,
  everyNs: undefined,
  withInputs: true,
  rowsMax: 1_000,
  ...over,
});

/** Opens the past of a node, and the part that answers the questions of other nodes. */
async function openAnswers(t: Test, aggregates: readonly SignedAggregate[], node = 1) {
  const folder = mkdtempSync(join(tmpdir(), 'tickseal-test-'));
  const clock = new FakeClock(HOUR_START_NS + 600n * SECOND_NS);
  const writer = await WrittenPast.open(folder, { clock });
  for (const aggregate of aggregates) writer.log.append(entryOf(aggregate).line);
  await writer.log.durable();
  const past = readerOf(folder);
  let handler: Handler | undefined;
  let passedMs = 0;
  const answers = new PastAnswerer({
    bus: {
      answer(topic, given) {
        t.equal(topic, `ask.past.*.${node}`);
        handler = given;
        return () => {
          handler = undefined;
        };
      },
    },
    node,
    past,
    turns: new PacedTurns(
      () => 0,
      (callback) => setImmediate(callback),
    ),
    isOnDisk: async () => true,
    onDamage: (reason) => t.fail(reason),
    nowNs: () => clock.nowNs(),
    // Each call takes a little time, so an answer of 300 rows needs several turns, on a machine of any speed.
    nowMs: () => {
      passedMs += 0.02;
      return passedMs;
    },
  });
  t.teardown(async () => {
    answers.close();
    await past.close();
    await writer.close();
    rmSync(folder, { recursive: true });
  });
  const handle: Handler = (bytes, topic) => handler!(bytes, topic);
  return { answers, handle };
}

/** Encodes an answer with these entries. */
function answerOf(entries: readonly ReceivedLine[], reached: bigint): Handler {
  const lines = new AnswerLines();
  for (const entry of entries)
    lines.add(entry.aggregate, {
      ...entry,
      line: writeAggregateLine(entry.aggregate, entry.shown, entry.hasInputs),
    });
  return async () => lines.take(reached);
}

test('a node receives the aggregates of an instant from another node, to the last character', async (t) => {
  const older = await openAnswers(t, [...BTCS, ...DYDXS]);
  const { pasts, refused } = openAsker(new Map([[1, older.handle]]));
  for (const i of [0, 1, 7, 11]) {
    const answer = await pasts.at('alice', [BTC, NONE, DYDX], BTCS[i]!.signedAtNs + 5n);
    t.same(
      [...answer.given!].map(([name, entry]) => [name, shownText(entry)]),
      [
        [BTC, shownText(entryOf(BTCS[i]!))],
        [DYDX, shownText(entryOf(DYDXS[i]!))],
      ],
    );
  }
  t.same(await pasts.at('alice', [BTC], HOUR_START_NS - 1n), {
    isBusy: false,
    keptFromNs: BTCS[0]!.signedAtNs,
  });
  t.same(refused, []);
});

test('a range comes in answers of limited size', async (t) => {
  const older = await openAnswers(t, BTCS);
  const { pasts, refused } = openAsker(new Map([[1, older.handle]]));
  const rows: string[] = [];
  let pages = 0;
  for (let { fromNs, toNs } = rangeOf(); fromNs < toNs; pages++) {
    const { given } = await pasts.range('alice', rangeOf({ fromNs }));
    rows.push(...given!.rows.map(shownText));
    fromNs = given!.endNs;
  }
  t.same(
    rows,
    BTCS.map((one) => shownText(entryOf(one))),
  );
  t.equal(pages, 2, 'an answer ends after 512 KiB');
  t.same(refused, []);
});

test('a node that does not answer is asked once, and the wait has a limit', async (t) => {
  const silent: Handler = async () => undefined;
  const older = await openAnswers(t, BTCS, 3);
  const asker = openAsker(
    new Map([
      [1, silent],
      [2, silent],
      [3, older.handle],
    ]),
    3,
  );
  const answer = await asker.pasts.at('alice', [BTC], HOUR_START_NS);
  t.same(answer, { isBusy: false, keptFromNs: undefined }, 'two silent nodes take all the time');
  t.same([asker.asked, asker.now()], [[1, 2], 3_000]);
  t.ok((await asker.pasts.at('alice', [BTC], HOUR_START_NS)).given, 'then only the third node is asked');
  t.same(asker.asked, [1, 2, 3]);
  asker.pass(10_000);
  await asker.pasts.at('alice', [BTC], HOUR_START_NS);
  t.same(asker.asked.slice(3), [1, 2], 'the silent nodes are asked again after ten seconds');
});

test('no false answer is believed', async (t) => {
  const [first, second, third] = BTCS.map(entryOf) as [ReceivedLine, ReceivedLine, ReceivedLine];
  const { aggregate } = second;
  const stranger = createAggregateSigner({ evm: Buffer.alloc(32, 0x33) }, SERVICE_ORACLE_ID, pool);
  const asset = { ...BTC, aggregation: 'median' } as never;
  const [foreign] = await stranger.sign('evm', [{ ...aggregate, asset }]);
  const with_ = (over: Partial<SignedAggregate>): ReceivedLine => ({
    ...second,
    aggregate: { ...aggregate, ...over },
  });
  const shown = (over: object): ReceivedLine => ({ ...second, shown: { ...second.shown, ...over } });
  const [input, ...others] = aggregate.inputs;
  const wire = (over: object): ReceivedLine =>
    with_({ inputs: [{ ...input!, wire: { ...input!.wire, ...over } }, ...others] });
  const flipped = Buffer.from(aggregate.s);
  flipped[31]! ^= 1;
  const endNs = third.timeNs + 1n;
  const cases: Record<string, [readonly ReceivedLine[], reached?: bigint]> = {
    'a signature with a changed bit': [[first, with_({ s: flipped }), third]],
    'another price': [[with_({ price: (aggregate.price + 1n) as never })]],
    'another time': [
      [
        {
          ...with_({ signedAtNs: (aggregate.signedAtNs + 1n) as never }),
          timeNs: (second.timeNs + 1n) as never,
        },
      ],
    ],
    'another hash': [[with_({ msgHash: Buffer.alloc(32, 7) })]],
    'the key of a stranger': [[entryOf(foreign!)]],
    'another asset': [[{ ...first, aggregate: { ...first.aggregate, symbol: 'ETHUSD' } }]],
    'another Merkle root': [[with_({ merkleRoot: Buffer.alloc(32, 7) })]],
    'fewer inputs': [[with_({ inputs: others })]],
    'an input twice': [[with_({ inputs: [input!, ...aggregate.inputs] })]],
    'another timestamp': [[with_({ timestampNs: (aggregate.timestampNs - 1n) as never })]],
    'an input with another signature': [[wire({ s: others[0]!.wire.s })]],
    'an input that breaks JSON': [[wire({ r: '0x1","x":"' })]],
    'a name that breaks JSON': [[shown({ serviceName: 'a":1,"b' })]],
    'another encoded asset ID': [[shown({ encodedAssetId: 'RVRI' })]],
    'another checksum': [[shown({ checksum: '00'.repeat(32) })]],
    'a row before the range': [[first, second], endNs],
    'a row after the end': [[second, third], third.timeNs],
    'an end after the range': [[second], 2n ** 62n],
    'an end before the range': [[], second.timeNs - 1n],
    'rows in another order': [[third, second]],
  };
  for (const [what, [entries, reached = endNs]] of Object.entries(cases)) {
    const fromNs = what === 'a row before the range' ? second.timeNs : HOUR_START_NS;
    const { pasts, refused, asked } = openAsker(new Map([[1, answerOf(entries, reached)]]));
    const from = what.startsWith('an end before') ? second.timeNs : fromNs;
    const answer = await pasts.range('alice', rangeOf({ fromNs: from, toNs: endNs }));
    t.same(answer, { isBusy: false, keptFromNs: undefined }, what);
    t.match(refused, [/^node 1 answered with a past that is not authentic: /], what);
    t.same(asked, [1]);
  }
  const valid = openAsker(new Map([[1, answerOf([first, second, third], endNs)]]));
  t.same(
    (await valid.pasts.range('alice', rangeOf({ toNs: endNs }))).given?.rows.length,
    3,
    'the unchanged rows',
  );

  const [dydx] = DYDXS;
  const moved: ReceivedLine = entryOf({ ...dydx!, price: (dydx!.price + 1n) as never });
  const stark = openAsker(new Map([[1, answerOf([moved], 1n)]]));
  t.same((await stark.pasts.at('alice', [DYDX], endNs)).given, undefined, 'another Stark price');
  const later = openAsker(new Map([[1, answerOf([third], 1n)]]));
  t.same((await later.pasts.at('alice', [BTC], third.timeNs - 1n)).given, undefined, 'a later aggregate');
});

test('bytes that no node sends are refused, whatever they are', async (t) => {
  const [valid] = [await answerOf(BTCS.slice(0, 20).map(entryOf), BTCS[20]!.signedAtNs)(Buffer.alloc(0), '')];
  const long = Buffer.from(`{"state":"kept","reached":"${'9'.repeat(500_000)}"}`);
  const answers = [Buffer.from('{"state":"other"}'), long];
  for (let i = 0; i < 300; i++) {
    const broken = Buffer.from(valid!);
    broken[(i * 7_919) % broken.length]! ^= 1 << (i % 8);
    answers.push(i % 3 === 0 ? broken.subarray(0, (i * 104_729) % broken.length) : broken);
  }
  for (const bytes of answers) {
    const { pasts, refused } = openAsker(new Map([[1, async () => bytes]]));
    const { given } = await pasts.range('alice', rangeOf());
    // A changed bit may be in a text that no signature covers. Then the rows are still authentic.
    if (given === undefined) t.equal(refused.length, 1);
    else t.ok(given.rows.length <= 20);
  }
});

test('a node answers few questions of a node at once, and takes its budget', async (t) => {
  const { answers } = await openAnswers(t, BTCS);
  const everyNs = 3_600n * SECOND_NS;
  const question = (fromNs: bigint = HOUR_START_NS) =>
    encodeQuestion(rangeOf({ fromNs, everyNs, withInputs: false }));
  const busy = shortAnswer('busy');
  const failed = shortAnswer('failed');
  const together = await Promise.all(Array.from({ length: 6 }, () => answers.answer(5, question())));
  t.equal(together.filter((one) => one.equals(busy)).length, 2, 'four at once');
  const others = await Promise.all(
    [6, 7, 8, 9, 10].flatMap((node) => Array.from({ length: 4 }, () => answers.answer(node, question()))),
  );
  t.equal(others.filter((one) => one.equals(busy)).length, 4, 'sixteen at once from all nodes');
  let asked = 0;
  while (!(await answers.answer(11, question())).equals(busy)) asked++;
  t.ok(asked > 100 && asked < 300, `${asked} questions with 300 entries each use up a budget`);
  t.notOk((await answers.answer(12, question())).equals(busy), 'another node has a budget of its own');
  t.same(await answers.answer(13, Buffer.from('none')), failed);
  t.same(await answers.answer(0, question()), failed);
  t.same(await answers.answer(64, question()), failed);
  t.same(await answers.answer(14, question(0n)), goneAnswer(BTCS[0]!.signedAtNs));
});

test('a busy node is asked again until the time is over', async (t) => {
  let left = 3;
  const older = await openAnswers(t, BTCS);
  const handle: Handler = async (bytes, topic) =>
    left-- > 0 ? shortAnswer('busy') : older.handle(bytes, topic);
  const asker = openAsker(new Map([[1, handle]]));
  t.ok((await asker.pasts.at('alice', [BTC], HOUR_START_NS)).given);
  t.same(asker.asked, [1, 1, 1, 1]);
  left = Number.POSITIVE_INFINITY;
  const patient = openAsker(new Map([[1, handle]]));
  const asking = patient.pasts.at('alice', [BTC], HOUR_START_NS);
  patient.pass(3_000);
  t.same(await asking, { isBusy: true, keptFromNs: undefined });
});
