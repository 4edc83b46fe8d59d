import { test } from 'tap';
import { runTorture } from './run_torture.js';

test('empty frames on all connections of a token, limited in front of the service, cost others a quarter of their frames at most', async (t) => {
  const { stdout } = await runTorture('fair', '--only', 'limited');
  t.match(stdout, /frames of a reader before/);
  t.match(stdout, /^Everything holds\.$/m, stdout);
});
