import { test } from 'tap';
import { cases } from '../../tier.js';
import { runSequences } from './sequences.js';

// A sample of the sequences. `sequences.long.test.ts` runs 100,000.

test('a reader does what the model says, in any sequence of updates, rotations and expiries', async (t) => {
  const { sequences, calls, verdicts, differences } = await runSequences(cases(500), 1);
  t.comment(`${sequences} sequences, ${calls} calls`);
  t.same(differences, []);
  for (const verdict of ['ok', 'UnknownSigner', 'TooOld', 'NoRoot', 'NotOwner', 'Refused 1 2'])
    t.ok((verdicts.get(verdict) ?? 0) > 0, verdict);
});
