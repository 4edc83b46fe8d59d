import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'tap';
import {
  lookAtAll,
  lookInTurn,
  sequenceOf,
  TopicMembership,
} from '../../../src/server/uws/topic_membership.js';
import { holds } from '../../holds.js';
import { cases } from '../../tier.js';

const member = (name: string) => ({ name, topicPlace: 0, joinedAtSequence: 0 });
type NamedMember = ReturnType<typeof member>;

test('a member has been told what it joined with, or of the last frame after that', async (t) => {
  const topics = new TopicMembership<NamedMember>();
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
  holds(
    t,
    fc.property(order, fc.boolean(), (leaving, onTheWay) => {
      const topics = new TopicMembership<NamedMember>();
      const all = ['a', 'b', 'c', 'd', 'e', 'f'].map(member);
      for (const one of all) topics.join(1, one, 1);
      const seen: string[] = [];
      const topic = topics.get(1)!;
      if (!onTheWay) for (const place of leaving) topics.leave(1, all[place]!);
      lookAtAll(topic, (one) => {
        seen.push(one.name);
        if (onTheWay && leaving.includes(all.indexOf(one))) topics.leave(1, one);
      });
      const staying = all.filter((_, place) => !leaving.includes(place)).map(({ name }) => name);
      assert.deepEqual(seen.sort(), onTheWay ? all.map(({ name }) => name) : staying);
      assert.deepEqual([...(topics.get(1)?.sockets ?? [])].map(({ name }) => name).sort(), staying);
      assert.equal(topics.get(1) === undefined, staying.length === 0, 'a topic without members is forgotten');
    }),
    { numRuns: cases(100) },
  );
});

test('every member is looked at once within 16 KiB of frames, or 400 ms, and for a long frame', async (t) => {
  const frame = fc.record({
    bytes: fc.integer({ min: 1, max: 20_000 }),
    ms: fc.integer({ min: 0, max: 500 }),
  });
  holds(
    t,
    fc.property(fc.integer({ min: 1, max: 300 }), fc.array(frame, { maxLength: 60 }), (size, frames) => {
      const topics = new TopicMembership<NamedMember>();
      for (let i = 0; i < size; i++) topics.join(1, member(String(i)), 1);
      const topic = topics.get(1)!;
      const published = new Map([...topic.sockets].map((one) => [one, { bytes: 0, ms: 0 }]));
      let nowMs = 1e6;
      for (const { bytes, ms } of frames) {
        nowMs += ms;
        for (const unseen of published.values()) unseen.ms += ms;
        lookInTurn(topic, bytes, nowMs, (one) => {
          published.set(one, { bytes: 0, ms: 0 });
        });
        for (const unseen of published.values()) unseen.bytes += bytes;
        const worst = (of: 'bytes' | 'ms') =>
          Math.max(...[...published.values()].map((unseen) => unseen[of]));
        assert.ok(worst('bytes') < 16_384 + 20_000, 'bytes since the last look, the frame after it included');
        assert.ok(worst('ms') < 400 + 500, 'milliseconds since the last look');
        if (bytes >= 16_384) assert.equal(worst('bytes'), bytes);
      }
    }),
    { numRuns: cases(100) },
  );
});
