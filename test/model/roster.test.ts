import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'tap';
import { Roster } from '../../src/model/roster.js';
import { holds } from '../holds.js';
import { cases } from '../tier.js';

const rosterOf = (count: number) => {
  const roster = new Roster<'place', { place: number; name: number }>('place');
  const all = Array.from({ length: count }, (_, name) => ({ place: 0, name }));
  for (const one of all) roster.add(one);
  return { roster, all };
};

test('a roster has the members of a set, whatever their number, after any removals and additions', async (t) => {
  const count = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 500, max: 1_600 }));
  holds(
    t,
    fc.property(count, fc.array(fc.nat(2_000), { maxLength: 200 }), fc.nat(1_600), (size, changed, left) => {
      const { roster, all } = rosterOf(size);
      const expected = new Set(all);
      const change = (one: (typeof all)[number]) => {
        if (expected.delete(one)) roster.delete(one);
        else {
          expected.add(one);
          roster.add(one);
        }
      };
      for (const name of changed) if (name < size) change(all[name]!);
      for (const one of all.slice(left)) if (expected.has(one)) change(one);
      for (const name of changed) if (name < size) change(all[name]!);
      assert.equal(roster.size, expected.size);
      assert.deepEqual(new Set(roster), expected);
      for (const one of all) assert.equal(roster.has(one), expected.has(one));
      for (let place = 0; place < roster.size; place++) assert.equal(roster.at(place).place, place);
    }),
    { numRuns: cases(60) },
  );
});
