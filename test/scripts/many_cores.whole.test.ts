import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { findNatsServer } from '../../src/cli/demo/find_nats_server.js';
import { ROOT } from '../pages.js';
import { runProgram } from '../run_program.js';

const isLinux = process.platform === 'linux';

interface Result {
  readonly columns: Readonly<Record<string, Readonly<Record<string, number | null>>>>;
  readonly skipped: readonly string[];
}

test('the smallest measurement of threads and edges', { skip: !isLinux && 'it reads /proc' }, async (t) => {
  const file = join(t.testdir(), 'result.json');
  const script = join(ROOT, 'scripts/many_cores.sh');
  const text = await runProgram('bash', [script, '--smoke', '--json', file]);
  const { columns, skipped } = JSON.parse(readFileSync(file, 'utf8')) as Result;
  const hasNats = findNatsServer() !== undefined;
  t.same(Object.keys(columns), ['1 thread', ...(hasNats ? ['1 edge'] : [])]);
  for (const [name, figures] of Object.entries(columns)) {
    t.ok(Object.keys(figures).length >= 4, `${name}: there are figures`);
    for (const [figure, value] of Object.entries(figures)) t.type(value, 'number', `${name}: ${figure}`);
    t.match(text, name);
  }
  t.match(skipped[0], /^1000 threads, because this machine has \d+ cores$/);
  t.match(text, `Skipped: ${skipped[0]}.`);
});
