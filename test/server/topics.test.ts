import { test } from 'tap';
import { sequenceOf, Topics } from '../../src/server/topics.js';

test('a member has been told what it joined with, or of the last frame after that', async (t) => {
  const topics = new Topics<string>();
  topics.join(7, 'early', 3);
  const topic = topics.get(7)!;
  t.equal(sequenceOf(topic, 'early'), 3);
  topic.sequence = 5;
  topics.join(7, 'late', 6);
  t.equal(sequenceOf(topic, 'early'), 5);
  t.equal(sequenceOf(topic, 'late'), 6);
  topic.sequence = 9;
  t.equal(sequenceOf(topic, 'late'), 9);
});

test('a topic without members is forgotten', async (t) => {
  const topics = new Topics<string>();
  t.equal(topics.get(1), undefined);
  topics.leave(1, 'nobody');
  topics.join(1, 'a', 1);
  topics.join(1, 'b', 1);
  topics.leave(1, 'a');
  t.same([...topics.get(1)!.members.keys()], ['b']);
  topics.leave(1, 'b');
  t.equal(topics.get(1), undefined);
});
