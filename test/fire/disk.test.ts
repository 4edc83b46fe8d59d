import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { ServeProcess, writeConfig } from '../service/child.js';
import { eventually, Feed, units } from '../service/feed.js';
import { TestSocket } from '../service/harness.js';
import { latestOf } from '../service/publishing.js';

// A disk that fails under the whole service. Here its files may not grow, which takes no rights; on a file system that is
// really full it is `npm run torture -- disk`, and the store alone is `test/store/full_disk.test.ts`.

/** A disk that can be broken while the service runs. */
interface Disk {
  readonly env?: Readonly<Record<string, string>>;
  /** Called with the process that has it. */
  fail(pid: number): void;
  mend(pid: number): void;
}

/** The test runner's loaders, which it puts into every Node that a test starts, end it on the signal of the limit. */
const WITHOUT_LOADERS = ['env', '-u', 'NODE_OPTIONS', '-u', 'NODE_V8_COVERAGE'];
/** What the data folder's files may have: the pages that make a commit valid, and none for what is committed. */
const FILE_BYTES_MAX = 8_192;

test('a disk without room: durable answers stop, all else goes on, and it recovers', async (t) => {
  if (spawnSync('prlimit', ['--version']).status !== 0) {
    t.pass('skipped: no prlimit to limit a process with');
    return;
  }
  const limit = (pid: number, bytes: string) =>
    t.equal(spawnSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]).status, 0, `limit ${bytes}`);
  await holdsOn(t, t.testdir(), {
    fail: (pid) => limit(pid, String(FILE_BYTES_MAX)),
    mend: (pid) => limit(pid, 'unlimited'),
  });
});

/** Stands before the system's function, and fails while a file is there. */
const FAILING_SYNC = `
  #define _GNU_SOURCE
  #include <dlfcn.h>
  #include <errno.h>
  #include <stdlib.h>
  #include <unistd.h>
  int fdatasync(int fd) {
    if (access(getenv("FAILING_SYNC"), F_OK) == 0) { errno = EIO; return -1; }
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
  }`;

test('a disk that cannot flush: durable answers stop, all else goes on, and it recovers', async (t) => {
  const dir = t.testdir({ 'sync.c': FAILING_SYNC });
  const library = join(dir, 'sync.so');
  const build = spawnSync('cc', ['-shared', '-fPIC', '-o', library, join(dir, 'sync.c'), '-ldl']);
  if (process.platform !== 'linux' || build.status !== 0) {
    t.pass('skipped: no C compiler, or no way to stand before a function of the system');
    return;
  }
  const isFailing = join(dir, 'failing');
  await holdsOn(t, dir, {
    env: { LD_PRELOAD: library, FAILING_SYNC: isFailing },
    fail: () => writeFileSync(isFailing, ''),
    mend: () => rmSync(isFailing),
  });
});

async function holdsOn(t: Test, dir: string, disk: Disk): Promise<void> {
  const config = writeConfig(dir, { assets: [{ id: 1, symbol: 'BTCUSD', max_age: '600s' }] });
  const service = new ServeProcess(['--config', config], disk.env, WITHOUT_LOADERS);
  t.teardown(() => service.kill());
  const { url, socketUrl, adminUrl } = await service.ready();
  const pid = service.child.pid!;
  const publisher = await Feed.open({ socketUrl }, { ack: 'durable' });
  const reader = await TestSocket.open(`${socketUrl}/ws`);
  reader.send({ type: 'subscribe', assets: [1] });
  let count = 0;
  /** @returns the answer, once the price is streamed and served */
  const publishNext = async () => {
    const price = units(++count);
    const answer = await publisher.publish({ symbol: 'BTCUSD', price });
    await eventually(async () => (await reader.next()).includes(`"${price}"`));
    await eventually(async () => (await latestOf({ url }, 'BTCUSD'))['BTCUSD']?.price === String(price));
    return answer;
  };
  const readiness = async () => (await fetch(`${adminUrl}/readyz`)).status;
  t.match(await publishNext(), { type: 'ack', accepted: ['BTCUSD'] });

  disk.fail(pid);
  for (let i = 0; i < 3; i++)
    t.match(await publishNext(), {
      type: 'error',
      error: /accepted, but not on disk: the data folder cannot be written: .* KiB are free there/,
    });
  const response = await fetch(`${adminUrl}/readyz`);
  t.equal(response.status, 503);
  t.match(await response.text(), /the data folder cannot be written/);

  disk.mend(pid);
  await eventually(async () => (await readiness()) === 200, 20_000);
  t.match(await publishNext(), { type: 'ack', accepted: ['BTCUSD'] });
  const acknowledged = count;
  disk.fail(pid);
  t.match(await publishNext(), { type: 'error' });
  service.child.kill('SIGTERM');
  // lmdb may abort when it is closed after a failed write: it ends, then, and has said why.
  t.not((await service.exited).code, 0);
  t.match(service.stderr, /^the data folder cannot be written/m);

  const again = new ServeProcess(['--config', config]);
  t.teardown(() => again.kill());
  const latest = await latestOf(await again.ready(), 'BTCUSD');
  t.equal(latest['BTCUSD']?.price, String(units(acknowledged)), 'what was acknowledged is there');
}
