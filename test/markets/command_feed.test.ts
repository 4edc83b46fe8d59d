import { type Test, test } from 'tap';
import { SourceRun } from '../../src/markets/source_run.js';
import { planOf } from '../sources/plans.js';
import { ManualTime, until } from './manual_time.js';

function start(t: Test, program: string): { time: ManualTime; run: SourceRun; warnings: string[] } {
  const time = new ManualTime();
  const warnings: string[] = [];
  const run = new SourceRun({
    plan: planOf(`
sources: { desk: { kind: command, run: ${JSON.stringify([process.execPath, '-e', program])} } }
assets: { A: { from: [desk A], min_sources: 1, max_age: 10s } }
`),
    clock: time,
    schedule: time.schedule,
    random: () => 0.5,
    env: {},
    write: () => {},
    warn: (text) => warnings.push(text),
  });
  t.teardown(() => run.close());
  return { time, run, warnings };
}

test('a command that hangs is started again', async (t) => {
  const { time, run, warnings } = start(
    t,
    `console.log('{"symbol":"A","price":1}'); console.log('{"symbol":"A","error":"the desk is closed"}'); setInterval(() => {}, 1e6)`,
  );
  await run.open();
  const counts = run.meter.sources.get('desk')!;
  await until(() => counts.frames === 2, 'the first lines');
  t.same(warnings, ['desk: A: the desk is closed']);
  time.advance(20_000);
  t.equal(counts.opened, 1, 'it had a quote since the start');
  time.advance(20_000);
  await until(() => counts.ended === 1, 'its end');
  t.match(warnings.slice(1), ['desk: no quote for 20 s', /^desk: it ended \(SIGKILL\); starting it again$/]);
  time.advance(250);
  await until(() => counts.frames === 4, 'the lines of the next one');
  t.equal(counts.opened, 2);
});
