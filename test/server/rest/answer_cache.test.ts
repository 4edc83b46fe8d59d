import { test } from 'tap';
import { ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX, AnswerCache } from '../../../src/server/rest/answer_cache.js';
import type { AskedText } from '../../../src/server/rest/asked_index.js';

const MIB = 1024 * 1024;
const forever = () => true;
const asks = (query: string): AskedText => ({ caller: 'alice', path: '/v1/prices/latest', query });

test('a request in the same words finds its answer without being read', async (t) => {
  const answers = new AnswerCache(ANSWERS_BYTES_MAX);
  let isCurrent = true;
  answers.keep('a', asks('one way'), 'A', () => isCurrent);
  t.same(answers.findAsked(asks('one way')), Buffer.from('A'));
  t.equal(answers.findAsked(asks('another way')), undefined);
  const { bytes } = answers;
  t.ok(answers.find('a', asks('another way')));
  t.equal(answers.bytes, bytes + 2 * ('another way'.length - 'one way'.length), 'the words count');
  t.same(answers.findAsked(asks('another way')), Buffer.from('A'));
  t.equal(answers.findAsked(asks('one way')), undefined, 'only the last words are remembered');
  isCurrent = false;
  t.equal(answers.findAsked(asks('another way')), undefined);
  t.equal(answers.find('a', asks('another way')), undefined);
  t.equal(answers.bytes, 0);
});

test('what was asked for longest ago makes room, by bytes', async (t) => {
  const answers = new AnswerCache(ANSWERS_BYTES_MAX);
  const text = 'x'.repeat(MIB);
  for (let i = 0; i < 60; i++) answers.keep(`${i}`, asks(`asks ${i}`), text, forever);
  t.ok(answers.find('0', asks('asks 0')), 'all have room');
  for (let i = 60; i < 70; i++) answers.keep(`${i}`, asks(`asks ${i}`), text, forever);
  t.ok(answers.find('0', asks('asks 0')), 'it was asked for again');
  t.equal(answers.find('1', asks('asks 1')), undefined);
  t.ok(answers.find('69', asks('asks 69')));
  answers.keep('0', asks('asks 0'), text, forever);
  t.ok(answers.bytes <= ANSWERS_BYTES_MAX && answers.bytes > ANSWERS_BYTES_MAX - 2 * MIB);
});

test('a very long answer is not kept', async (t) => {
  const answers = new AnswerCache(ANSWERS_BYTES_MAX);
  answers.keep('a', asks('asks a'), 'x'.repeat(ANSWER_BYTES_MAX), forever);
  t.ok(answers.find('a', asks('asks a')));
  t.equal(
    answers.keep('a', asks('asks a'), 'x'.repeat(ANSWER_BYTES_MAX + 1), forever).length,
    ANSWER_BYTES_MAX + 1,
  );
  t.equal(answers.find('a', asks('asks a')), undefined);
  t.equal(answers.bytes, 0);
});
