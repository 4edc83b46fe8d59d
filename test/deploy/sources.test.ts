import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { registerSources } from '../../src/cli/sources_command.js';
import { MARKETS } from '../../src/sources/adapters/built_in.js';
import { parseSources } from '../../src/sources/parse_sources.js';
import { runCommand } from '../cli/run_command.js';
import { ROOT, readPage } from '../pages.js';

test('the sources for production: 20 assets, none of which depends on one exchange or one currency', async (t) => {
  const result = parseSources(
    readFileSync(join(ROOT, 'scripts/deploy/sources.yaml'), 'utf8'),
    'sources.yaml',
  );
  t.ok(result.ok);
  if (!result.ok) return;
  const { sources, assets, publish } = result.plan;
  t.equal(assets.filter(({ isPublished }) => isPublished).length, 20);
  t.same([...sources.keys()].sort(), Object.keys(MARKETS).sort());
  t.match(publish.url, /\/evm\/publish$/);
  for (const { symbol, inputs, minSources, bounds } of assets) {
    t.ok(bounds !== undefined && minSources >= 2, symbol);
    const dollars = inputs.filter(({ conversion }) => conversion === undefined);
    t.ok(dollars.length >= 2, `${symbol}: two exchanges in dollars`);
    for (const { source, symbol: pair, conversion } of inputs) {
      const quote = pair.split('/')[1];
      t.equal(conversion, quote === 'USD' ? undefined : 'USDTUSD', `${symbol}: ${pair}`);
      t.equal(MARKETS[source as keyof typeof MARKETS].objection?.(pair), undefined);
    }
  }
});

test('the command source of the page runs', async (t) => {
  if (spawnSync('python3', ['--version']).status !== 0) {
    t.pass('skipped: there is no python3');
    return;
  }
  const [, program = ''] = /```python\n([\s\S]*?)```/.exec(readPage('src/sources/README.md')) ?? [];
  t.ok(program.trim().split('\n').length <= 5, 'five lines');
  const dir = t.testdir();
  writeFileSync(join(dir, 'quotes.py'), `my_desk = lambda name: ("2000.10", "2000.30")\n${program}`);
  const file = join(dir, 'sources.yaml');
  writeFileSync(
    file,
    `sources: { desk: { kind: command, run: [python3, ${JSON.stringify(join(dir, 'quotes.py'))}] } }
assets: { XAUUSD: { from: [desk GOLD], min_sources: 1 } }
`,
  );
  const { stdout, stderr, exitCode } = await runCommand(
    (program, streams) => registerSources(program, streams, { checkMs: 2_500, tableMs: 500 }),
    ['sources', file, '--check'],
  );
  t.same([stderr, exitCode], ['', 0]);
  t.match(stdout[1], /^XAUUSD .*price 2000\.2$/);
});
