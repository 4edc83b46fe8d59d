import { test } from 'tap';
import { LogQuestions } from '../../../src/cluster/node/log_questions.js';

const FACTS = { origin: 'prices.example.com/tlog', vkey: '', policy: '', maxDelayS: 30 };
const QUESTION = Buffer.concat([Buffer.alloc(4), Buffer.from('batch/000')]);

type Handler = (bytes: Uint8Array, topic: string) => Promise<Uint8Array>;

/** A bus with the handlers of the nodes that answer, by number. */
function busOf() {
  const handlers = new Map<string, Handler>();
  const nodeOf = (topic: string) => topic.split('.').at(-1)!;
  return {
    answer(topic: string, handler: Handler) {
      handlers.set(nodeOf(topic), handler);
      return () => {};
    },
    async ask(topic: string, bytes: Uint8Array): Promise<Uint8Array> {
      const handler = handlers.get(nodeOf(topic));
      if (handler === undefined) throw new Error('no responders');
      return handler(bytes, topic);
    },
  };
}

test('a question goes to the aggregators in turn, and a large file comes in pages', async (t) => {
  const bus = busOf();
  const ofNode = (node: number) =>
    new LogQuestions({ bus, node, aggregators: () => [1, 2], nowNs: () => 0n });
  const large = Buffer.alloc(1_300_000, 'tickseal');
  const asked: string[] = [];
  ofNode(2).answer({
    publicPart: async (path, offset, lengthMax) => {
      asked.push(path);
      const file = path === 'batch/000' ? large : undefined;
      return file && { size: file.length, bytes: file.subarray(offset, offset + lengthMax) };
    },
    facts: () => FACTS,
  });
  const edge = ofNode(7);
  t.ok(Buffer.from((await edge.read('batch/000'))!).equals(large));
  t.same(asked, ['batch/000', 'batch/000', 'batch/000']);
  t.equal(await edge.read('batch/001'), undefined);
  t.same(await edge.facts(), FACTS);
  const none = new LogQuestions({ bus, node: 7, aggregators: () => [], nowNs: () => 0n });
  await t.rejects(none.read('checkpoint'), /no aggregator is present/);
});

test('an answer of a hostile node ends the question', async (t) => {
  for (const [name, answer] of [
    ['a size without bytes', [0, 0, 0, 9]],
    ['a small part', [0, 0, 0, 9, 1]],
    ['more bytes than the size', [0, 0, 0, 1, 1, 2]],
    ['a size of 4 GB', [255, 255, 255, 255, 1]],
  ] as const) {
    const bus = { ask: async () => Uint8Array.from(answer), answer: () => () => {} };
    const questions = new LogQuestions({ bus, node: 7, aggregators: () => [1], nowNs: () => 0n });
    await t.rejects(questions.read('batch/000'), /invalid part/, name);
  }
});

test('a node that asks too much receives no answer, and another node does', async (t) => {
  const bus = busOf();
  const clock = { nowNs: 1_000_000_000n };
  const questions = new LogQuestions({ bus, node: 1, aggregators: () => [], nowNs: () => clock.nowNs });
  let reads = 0;
  questions.answer({
    publicPart: async () => {
      reads++;
      return { size: 500_000, bytes: Buffer.alloc(500_000) };
    },
    facts: () => undefined,
  });
  const ask = (from: number) => bus.ask(`ask.log.${from}.1`, QUESTION).catch(() => undefined);
  let answered = 0;
  while (answered < 1_000 && (await ask(7)) !== undefined) answered++;
  t.ok(answered > 10 && answered < 200, `${answered} answers`);
  const readBefore = reads;
  t.equal(await ask(7), undefined);
  t.equal(reads, readBefore, 'a question beyond the budget costs no reading');
  t.equal((await ask(8))?.length, 500_004);
  clock.nowNs += 1_000_000_000n;
  t.equal((await ask(7))?.length, 500_004, 'a second later it receives answers again');
  reads = 0;
  await Promise.all(Array.from({ length: 100 }, () => ask(9)));
  t.equal(reads, 2, 'few files are in memory at the same time');
  await t.rejects(bus.ask('ask.log.8.1', Buffer.alloc(4)), /not a question/);
});
