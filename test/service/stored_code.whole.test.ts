import { cpSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { ROOT } from '../pages.js';
import { ServeProcess, writeConfig } from './child.js';

/** Copies the program, because services of other tests also store code beside their program. */
function copyProgram(t: Test): string {
  const root = t.testdir();
  for (const path of ['package.json', 'dist/src'])
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  for (const path of ['node_modules', 'dist/page', 'dist/reference', 'dist/commit'])
    symlinkSync(join(ROOT, path), join(root, path));
  return root;
}

test('a service stores the compiled code of its program, and starts with damaged code', async (t) => {
  const root = copyProgram(t);
  const config = writeConfig(root);
  const start = async () => {
    const main = join(root, 'dist/src/cli/main.js');
    const service = new ServeProcess(['--config', config], {}, { main });
    t.teardown(() => service.kill());
    await service.ready();
    service.child.kill('SIGTERM');
    t.same(await service.exited, { code: 0, signal: null });
    t.equal(service.stderr, '');
  };
  await start();
  const folder = join(root, 'dist/compile-cache/serve');
  const [name, ...others] = readdirSync(folder);
  t.same(others, []);
  const file = join(folder, name!);
  const { ino } = statSync(file);
  await start();
  t.equal(statSync(file).ino, ino, 'a service that used the code does not store it again');
  const damaged = readFileSync(file);
  damaged.fill(0, damaged.length >> 1);
  writeFileSync(file, damaged);
  await start();
  t.notOk(readFileSync(file).equals(damaged), 'the code is stored again');
});
