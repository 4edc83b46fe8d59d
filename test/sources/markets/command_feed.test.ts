import { type Test, test } from 'tap';
import type { SourceRun } from '../../../src/sources/markets/source_run.js';
import { manualRun } from './manual_run.js';
import { ManualTime, until } from './manual_time.js';

function start(
  t: Test,
  command: readonly string[],
): { time: ManualTime; run: SourceRun; warnings: string[] } {
  const time = new ManualTime();
  const text = `
sources: { desk: { kind: command, run: ${JSON.stringify(command)} } }
assets: { A: { from: [desk A], min_sources: 1, max_age: 10s } }
`;
  return { time, ...manualRun(t, text, time) };
}

const node = (program: string) => [process.execPath, '-e', program];
/** A shell that writes the process ID of its group as the price and starts a process that keeps the shell's output open. */
const withSleeper = (before = '') => [
  'sh',
  '-c',
  `${before} sleep 600 & echo "{\\"symbol\\":\\"A\\",\\"price\\":$PPID}"; wait`,
];

test('a command that hangs is started again', async (t) => {
  const { time, run, warnings } = start(
    t,
    node(
      `console.log('{"symbol":"A","price":1}'); console.log('{"symbol":"A","error":"the desk is closed"}'); setInterval(() => {}, 1e6)`,
    ),
  );
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
  for (const [text, passedMs] of [
    ['', 0],
    ["trap '' TERM;", 1_000],
  ] as const) {
    const { time, run } = start(t, withSleeper(text));
    await run.open();
    const counts = run.meter.sources.get('desk')!;
    await until(() => counts.frames === 1, 'the line');
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
    time.advance(passedMs);
    await until(() => !isAlive(), `the end with "${text}"`);
  }
});
