import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { ServeProcess, writeConfig } from '../service/child.js';
import { eventually, Feed, units } from '../service/feed.js';
import { TestSocket } from '../service/harness.js';
import { latestOf } from '../service/publishing.js';

// A disk that fails under the whole service, as the system tells it. On a file system that is really full it is
// `npm run torture -- disk`, and the store alone is `test/store/full_disk.test.ts`.

/** Stands before the system's functions, and says what it is told to while a file is there. */
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

test('a disk without room: durable answers stop, all else goes on, and it recovers', (t) =>
  holdsOn(t, 'room', /cannot be written: there is no room for what waits; 0 KiB are free there/));

test('a disk that cannot flush: durable answers stop, all else goes on, and it recovers', (t) =>
  holdsOn(t, 'sync', /cannot be written: .* KiB are free there/));

test('a first start without room is refused', async (t) => {
  const disk = prepare(t, 'room');
  if (disk === undefined) return;
  writeFileSync(disk.isFailing, '');
  const config = writeConfig(disk.dir, { assets: [{ id: 1, symbol: 'BTCUSD' }] });
  const service = new ServeProcess(['--config', config], disk.env);
  t.teardown(() => service.kill());
  t.match(
    [await service.exited, service.stderr],
    [{ code: 2, signal: null }, /storage\.dir: the data folder .* cannot be used: there is no room for it/],
  );
});

/** @returns what makes a disk fail while the file `isFailing` is there, or `undefined` where nothing can. */
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

async function holdsOn(t: Test, failure: string, reason: RegExp): Promise<void> {
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

  fail();
  for (let i = 0; i < 3; i++) t.match(await publishNext(), { type: 'error', error: reason });
  const response = await fetch(`${adminUrl}/readyz`);
  t.equal(response.status, 503);
  t.match(await response.text(), reason);

  rmSync(isFailing);
  await eventually(async () => (await readiness()) === 200, 20_000);
  t.match(await publishNext(), { type: 'ack', accepted: ['BTCUSD'] });
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
