import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { openStore } from '../../../src/log/store/store.js';
import { atSecond, putInputs, START_S, sampleAggregate, storeOptions, units } from './sample.js';

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
  const command = 'mount -t tmpfs -o size=48m none "$0" && exec "$1" "$2" "$0"';
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

test('nothing is written below the reserve; the log says once that it begins, and once that it ends', async (t) => {
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  let freeBytes = 4096;
  const options = storeOptions(t.testdir(), {
    reserveBytes: 4097,
    freeBytes: () => freeBytes,
    logger: { error: log, info: log },
  });
  const store = await openStore(options);
  t.teardown(() => store.close());
  putInputs(store, sampleAggregate(options.assets[0]!, options.publishers, units(1), atSecond(START_S)));
  const reason =
    'the data folder cannot be written: the disk is full: storage.reserve keeps 5 KiB free; 4 KiB are free there';
  for (let attempt = 0; attempt < 2; attempt++) await t.rejects(store.durable(), { message: reason });
  t.same(store.health(), { ok: false, reason });
  t.same(lines, [reason]);
  freeBytes = 64 * 1024 * 1024;
  await eventually(() => store.health().ok);
  await store.durable();
  t.same(lines, [reason, 'the data folder is written again']);
});
