import { spawn } from 'node:child_process';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { KeptProcess } from '../../../src/cli/demo/kept_process.js';

/** The arguments of a program that does nothing until it is killed. */
const IDLE = ['-e', 'setInterval(() => {}, 1000)'];

function keep(args: readonly string[] = IDLE) {
  const said: string[] = [];
  const kept = new KeptProcess({
    name: 'node 1',
    spawn: () => spawn(process.execPath, args, { stdio: 'ignore' }),
    say: (line) => said.push(line),
  });
  return { kept, said };
}

test('a process that somebody ends is started again, and both are said', async (t) => {
  const { kept, said } = keep();
  t.teardown(() => kept.stop());
  await kept.start();
  kept.keep();
  const first = kept.pid!;
  process.kill(first, 'SIGKILL');
  await eventually(() => said.length === 1);
  t.equal(said[0], 'node 1 has ended (SIGKILL); it starts again in 5 s');
  t.notOk(kept.isUp);
  await eventually(() => said.length === 2);
  t.not(kept.pid, first);
  t.equal(said[1], `node 1 was started again: kill -9 ${kept.pid}`);
  t.ok(kept.isUp);
});

test('one that is stopped stays so, also while it waits for its next start', async (t) => {
  const { kept, said } = keep();
  await kept.start();
  kept.keep();
  process.kill(kept.pid!, 'SIGKILL');
  await eventually(() => said.length === 1);
  await kept.stop();
  t.notOk(kept.isUp);
  const other = keep();
  await other.kept.start();
  other.kept.keep();
  await other.kept.stop();
  t.notOk(other.kept.isUp);
  t.same(other.said, []);
});

test('one that ends before it is kept is not started again', async (t) => {
  const { kept, said } = keep(['-e', 'process.exit(3)']);
  await kept.start();
  await eventually(() => !kept.isUp);
  t.same(said, []);
});
