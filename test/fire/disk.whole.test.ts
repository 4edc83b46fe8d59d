import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { ServeProcess, writeConfig } from '../service/child.js';
import { Feed, units } from '../service/feed.js';
import { TestSocket } from '../service/harness.js';
import { latestOf } from '../service/publishing.js';

// Tests a whole service with system calls that report a failing disk. `npm run torture -- disk` tests a full file system
// instead, and `test/log/store/full_disk.test.ts` tests only the store.

/**
 * The source of a library that replaces functions of the C library. While a file exists, these functions report the error in an
 * environment variable.
 */
const FAILING_DISK = `
  #define _GNU_SOURCE
  #include <dlfcn.h>
  #include <errno.h>
  #include <stdlib.h>
  #include <string.h>
  #include <sys/vfs.h>
  #include <unistd.h>
  static int fails(const char *what) {
    return access(getenv("FAILING"), F_OK) == 0 && strcmp(getenv("FAILURE"), what) == 0;
  }
  int fdatasync(int fd) {
    if (fails("sync")) { errno = EIO; return -1; }
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
  }
  int statfs(const char *path, struct statfs *out) {
    int status = ((int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, "statfs"))(path, out);
    if (fails("room")) out->f_bavail = 0;
    return status;
  }
  int statfs64(const char *path, struct statfs64 *out) {
    int status = ((int (*)(const char *, struct statfs64 *))dlsym(RTLD_NEXT, "statfs64"))(path, out);
    if (fails("room")) out->f_bavail = 0;
    return status;
  }`;

test('a full disk: durable acknowledgements and signing stop, streams go on, and it recovers', (t) =>
  survivesFailure(
    t,
    'room',
    /cannot be written: the disk is full: storage.reserve keeps 16384 KiB free; 0 KiB are free there/,
  ));

test('a disk that cannot flush: durable acknowledgements and signing stop, streams go on, and it recovers', (t) =>
  survivesFailure(t, 'sync', /cannot be written: .* KiB are free there/));

/**
 * Builds the library that causes the failure. @returns the environment in which the disk fails while `isFailing` exists;
 * `undefined` if the library cannot be built
 */
function prepare(t: Test, failure: string) {
  const dir = t.testdir({ 'disk.c': FAILING_DISK });
  const library = join(dir, 'disk.so');
  const build = spawnSync('cc', ['-shared', '-fPIC', '-o', library, join(dir, 'disk.c'), '-ldl']);
  if (process.platform !== 'linux' || build.status !== 0) {
    t.pass('skipped: no C compiler, or no way to stand before a function of the system');
    return undefined;
  }
  const isFailing = join(dir, 'failing');
  return { dir, isFailing, env: { LD_PRELOAD: library, FAILING: isFailing, FAILURE: failure } };
}

async function survivesFailure(t: Test, failure: string, reason: RegExp): Promise<void> {
  const disk = prepare(t, failure);
  if (disk === undefined) return;
  const { dir, isFailing, env } = disk;
  const fail = () => writeFileSync(isFailing, '');
  const config = writeConfig(dir, { assets: [{ id: 1, symbol: 'BTCUSD', max_age: '600s' }] });
  const service = new ServeProcess(['--config', config], env);
  t.teardown(() => service.kill());
  const { url, socketUrl, adminUrl } = await service.ready();
  const publisher = await Feed.open({ socketUrl }, { ack: 'durable' });
  const reader = await TestSocket.open(`${socketUrl}/ws`);
  reader.send({ type: 'subscribe', assets: [1] });
  let count = 0;
  const served = async () => (await latestOf({ url }, 'BTCUSD'))['BTCUSD']?.price;
  /** Publishes the next price. @returns the answer, after readers have received the price */
  const publishNext = async () => {
    const price = units(++count);
    const answer = await publisher.publish({ symbol: 'BTCUSD', price });
    await eventually(async () => (await reader.next()).includes(`"${price}"`));
    return answer;
  };
  const isServed = () => eventually(async () => (await served()) === String(units(count)));
  const readiness = async () => (await fetch(`${adminUrl}/readyz`)).status;
  t.match(await publishNext(), { type: 'ack', accepted: ['BTCUSD'] });
  await isServed();

  fail();
  for (let i = 0; i < 3; i++) t.match(await publishNext(), { type: 'error', error: reason });
  const response = await fetch(`${adminUrl}/readyz`);
  t.equal(response.status, 503);
  t.match(await response.text(), reason);
  const reasons = async () => (await fetch(`${adminUrl}/readyz`)).text();
  await eventually(async () => (await reasons()).includes('no aggregates are signed'));
  const lastSigned = await served();
  t.match(await publishNext(), { type: 'error', error: reason });
  t.equal(await served(), lastSigned);
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const countOf = (name: string) =>
    Number(new RegExp(`^tickseal_${name}_total (\\d+)$`, 'm').exec(metrics)![1]);
  t.ok(countOf('aggregates_dropped') > 0, 'they are counted');
  t.equal(countOf('signing_failures'), 0, 'and the key is not to blame');
  await eventually(async () =>
    service.stdout.includes('aggregates were never signed: the disk is too slow or full'),
  );

  rmSync(isFailing);
  await eventually(async () => (await readiness()) === 200);
  t.match(await publishNext(), { type: 'ack', accepted: ['BTCUSD'] });
  await isServed();
  const acknowledged = count;
  fail();
  t.match(await publishNext(), { type: 'error' });
  service.child.kill('SIGTERM');
  t.match([await service.exited, service.stderr], [{ code: 1, signal: null }, reason]);

  const again = new ServeProcess(['--config', config]);
  t.teardown(() => again.kill());
  const latest = await latestOf(await again.ready(), 'BTCUSD');
  t.equal(latest['BTCUSD']?.price, String(units(acknowledged)), 'what was acknowledged is there');
}
