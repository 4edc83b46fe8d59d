import { type Test, test } from 'tap';
import { manualRun } from './manual_run.js';
import { ManualTime, until } from './manual_time.js';

function start(t: Test, command: readonly string[]) {
  const time = new ManualTime();
  const text = `
sources: { desk: { kind: command, run: ${JSON.stringify(command)} } }
assets: { A: { from: [desk A], min_sources: 1, max_age: 10s } }
`;
  return { time, ...manualRun(t, text, time) };
}

test('a command that hangs is started again', async (t) => {
  const program = `console.log('{"symbol":"A","price":1}\\n{"symbol":"A","error":"the desk is closed"}'); setInterval(() => {}, 1e6)`;
  const { time, run, warnings } = start(t, [process.execPath, '-e', program]);
  await run.open();
  const counts = run.meter.sources.get('desk')!;
  await until(() => counts.frames === 2, 'the first lines');
  t.same(warnings, ['desk: A: "the desk is closed"']);
  time.advance(20_000);
  t.equal(counts.opened, 1, 'it had a quote since the start');
  time.advance(20_000);
  await until(() => counts.ended === 1, 'its end');
  t.match(warnings.slice(1), ['desk: no quote for 20 s', /^desk: it ended \(SIGKILL\); starting it again$/]);
  time.advance(250);
  await until(() => counts.frames === 4, 'the lines of the next one');
  t.equal(counts.opened, 2);
});

test('a closed run ends the whole group of a command, also if the command ignores the request', async (t) => {
  // The price is the process ID of the group. Another process keeps the output of the shell open.
  const program = `trap '' TERM; sleep 600 & echo "{\\"symbol\\":\\"A\\",\\"price\\":$PPID}"; wait`;
  const { time, run } = start(t, ['sh', '-c', program]);
  await run.open();
  await until(() => run.decisions()[0]!.price !== undefined, 'the line');
  const pid = Number(run.decisions()[0]!.price! / 10n ** 18n);
  const isAlive = () => {
    try {
      return process.kill(-pid, 0);
    } catch {
      return false;
    }
  };
  t.ok(isAlive());
  run.close();
  time.advance(1_000);
  await until(() => !isAlive(), 'the end');
});
