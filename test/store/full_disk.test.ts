import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';

/**
 * The arguments for a separate mount namespace. No other process sees the small file system, and it ends with the process.
 */
const NAMESPACE = ['-r', '-m', 'sh', '-c'];

test('a full disk: acknowledgements stop, the rest goes on, and it recovers by itself', async (t) => {
  const dir = t.testdir();
  const probe = spawnSync('unshare', [...NAMESPACE, 'mount -t tmpfs -o size=1m none "$0"', dir]);
  if (probe.status !== 0) {
    t.pass('skipped: no leave to mount a small file system (unshare -r -m)');
    return;
  }
  const script = fileURLToPath(new URL('full_disk.js', import.meta.url));
  const command = 'mount -t tmpfs -o size=24m none "$0" && exec "$1" "$2" "$0"';
  const child = spawn('unshare', [...NAMESPACE, command, dir, process.execPath, script]);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  t.equal(code, 0, output);
  t.match(output, /recovered/);
});
