import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'tap';
import { ROOT } from './pages.js';

test('the fast tests pass on other versions of Node', async (t) => {
  const run = spawn('bash', [join(ROOT, 'scripts/node_versions.sh')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  run.stdout.on('data', (bytes: Buffer) => {
    text += bytes;
  });
  const [status] = (await once(run, 'close')) as [number | null];
  for (const line of text.split('\n'))
    if (/^(?:skipped|Node |# \{|Above|not ok| +not ok)/.test(line)) t.comment(line);
  t.equal(status, 0);
});
