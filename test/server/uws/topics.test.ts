import fc from 'fast-check';
import { test } from 'tap';
import { sequenceOf, Topics } from '../../../src/server/uws/topics.js';

const member = (name: string) => ({ name, topicPlace: 0, joinedAtSequence: 0 });
type NamedMember = ReturnType<typeof member>;

test('a member has been told what it joined with, or of the last frame after that', async (t) => {
  const topics = new Topics<NamedMember>();
  const [early, late] = [member('early'), member('late')];
  topics.join(7, early, 3);
  const topic = topics.get(7)!;
  t.equal(sequenceOf(topic, early), 3);
  topic.sequence = 5;
  topics.join(7, late, 6);
  t.equal(sequenceOf(topic, early), 5);
  t.equal(sequenceOf(topic, late), 6);
  topic.sequence = 9;
  t.equal(sequenceOf(topic, late), 9);
});

test('who leaves is out whatever the order, also while the members are gone through from the end', async (t) => {
  const order = fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 1 });
  fc.assert(
    fc.property(order, fc.boolean(), (leaving, onTheWay) => {
      const topics = new Topics<NamedMember>();
      const all = ['a', 'b', 'c', 'd', 'e', 'f'].map(member);
      for (const one of all) topics.join(1, one, 1);
      const seen: string[] = [];
      const { members } = topics.get(1)!.sockets;
      if (!onTheWay) for (const place of leaving) topics.leave(1, all[place]!);
      for (let i = members.length - 1; i >= 0; i--) {
        const one = members[i]!;
        seen.push(one.name);
        if (onTheWay && leaving.includes(all.indexOf(one))) topics.leave(1, one);
      }
      const staying = all.filter((_, place) => !leaving.includes(place)).map(({ name }) => name);
      t.same(seen.sort(), onTheWay ? all.map(({ name }) => name) : staying);
      t.same((topics.get(1)?.sockets.members ?? []).map(({ name }) => name).sort(), staying);
    }),
    { numRuns: 100 },
  );
});

test('a topic without members is forgotten', async (t) => {
  const topics = new Topics<NamedMember>();
  const [a, b] = [member('a'), member('b')];
  t.equal(topics.get(1), undefined);
  topics.join(1, a, 1);
  topics.join(1, b, 1);
  topics.leave(1, a);
  t.same(topics.get(1)!.sockets.members, [b]);
  topics.leave(1, b);
  t.equal(topics.get(1), undefined);
});
