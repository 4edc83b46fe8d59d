import { test } from 'tap';
import { similarName } from '../../src/config/similar_name.js';

test('a mistyped name is the nearest one, if few letters differ', async (t) => {
  const names = ['tokens', 'max_age', 'min_publishers', 'max_deviation_percent', 'id', 'host', 'port'];
  for (const [typed, meant] of [
    ['MAX_AGE', 'max_age'],
    ['max_deviaton_percent', 'max_deviation_percent'],
    ['prot', 'port'],
    ['nope', undefined],
    ['i', undefined],
  ] as const)
    t.equal(similarName(typed, names), meant, typed);
});
