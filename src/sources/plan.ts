import type { NamedInput } from './sources_references.js';
import type { SourceDefinition } from './sources_schema.js';

/** The checked content of a file of sources. */
export interface SourcesPlan {
  readonly sources: ReadonlyMap<string, SourceDefinition>;
  /** All assets. An asset comes after the assets that its conversions use. */
  readonly assets: readonly AssetPlan[];
  readonly publish: PublishPlan;
}

/** An asset and the markets from which its price is made. */
export interface AssetPlan {
  readonly symbol: string;
  readonly inputs: readonly AssetInput[];
  readonly minSources: number;
  readonly maxAgeNs: bigint;
  /** A percentage times `PERCENT_SCALE`, like all percentages of the plan. */
  readonly maxSpread: bigint;
  readonly maxDeviation: bigint;
  /** The lowest and the highest price that may be published, times 10^18. */
  readonly bounds: readonly [bigint, bigint] | undefined;
  /** False for a price that is used only for conversions. */
  readonly isPublished: boolean;
}

/** A market of an asset: a symbol at a source. */
export interface AssetInput extends NamedInput {
  /** The order book behind the source. Sources with one engine have one vote together. */
  readonly engine: string;
}

export interface PublishPlan {
  readonly url: string | undefined;
  /** The interval at which each price is decided and sent. */
  readonly everyNs: bigint;
  /** The price change that is sent immediately. */
  readonly delta: bigint;
}
