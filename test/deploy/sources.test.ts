import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { MARKETS } from '../../src/sources/adapters/built_in.js';
import { parseSources } from '../../src/sources/parse_sources.js';
import { ROOT } from '../pages.js';

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
