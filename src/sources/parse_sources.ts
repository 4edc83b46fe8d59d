import { type Path, type Problem, readDocument } from '../config/document.js';
import { schemaProblems, unlessKnown } from '../config/schema_problems.js';
import { orderBooksOf } from './order_books.js';
import type { AssetPlan, SourcesPlan } from './plan.js';
import { parseInput, sourcesProblems } from './sources_references.js';
import { type SourcesContent, sourcesSchema } from './sources_schema.js';

export type SourcesResult =
  | {
      readonly ok: true;
      readonly plan: SourcesPlan;
      /** Formats errors that were found later, in the same form as `errors`. */
      describe(problems: readonly Problem[]): string[];
    }
  /** All errors of the file, one line each, in the order of the file: `sources.yaml:12:5 assets.BTCUSD.from[0]: …`. */
  | { readonly ok: false; readonly errors: readonly string[] };

/** Checks the text of a file of sources. The errors name `fileName`. */
export function parseSources(text: string, fileName: string): SourcesResult {
  const document = readDocument(text, fileName);
  const problems = [...document.problems];
  if (document.value === undefined) return { ok: false, errors: document.describe(problems) };
  const parsed = sourcesSchema.safeParse(document.value);
  const found = parsed.success
    ? sourcesProblems(parsed.data)
    : schemaProblems(parsed.error.issues, document, sourcesSchema, isSecret);
  problems.push(...unlessKnown(found, problems, document));
  return parsed.success && problems.length === 0
    ? { ok: true, plan: toPlan(parsed.data), describe: document.describe }
    : { ok: false, errors: document.describe(problems) };
}

/** The keys of a source whose values may be secrets. */
const SECRET_KEYS: ReadonlySet<unknown> = new Set([
  'url',
  'pairs_url',
  'ticker_url',
  'headers',
  'query',
  'run',
]);

function isSecret([first, second, third]: Path): boolean {
  return (first === 'sources' && SECRET_KEYS.has(third)) || (first === 'publish' && second === 'url');
}

function toPlan({ sources, assets, publish }: SourcesContent): SourcesPlan {
  const plans = new Map<string, AssetPlan>();
  const add = (symbol: string): void => {
    if (plans.has(symbol)) return;
    const plan = toAssetPlan(symbol, assets[symbol]!, sources);
    for (const { conversion } of plan.inputs) if (conversion !== undefined) add(conversion);
    plans.set(symbol, plan);
  };
  for (const symbol of Object.keys(assets)) add(symbol);
  return {
    sources: new Map(Object.entries(sources)),
    assets: [...plans.values()],
    publish: { url: publish.url, everyNs: publish.every, delta: publish.delta_percent },
  };
}

function toAssetPlan(
  symbol: string,
  asset: SourcesContent['assets'][string],
  sources: SourcesContent['sources'],
): AssetPlan {
  return {
    symbol,
    inputs: asset.from.map((text) => {
      const input = parseInput(text)!;
      return { ...input, engine: orderBooksOf(input.source, sources[input.source]!) };
    }),
    minSources: asset.min_sources,
    maxAgeNs: asset.max_age,
    maxSpread: asset.max_spread_percent,
    maxDeviation: asset.max_deviation_percent,
    bounds: asset.bounds,
    isPublished: asset.publish,
  };
}
