import type { Config } from '../../../src/config/config.js';
import { type MinuteCandle, type PricedHolding, pricedHolding } from '../../../src/log/records/holding.js';
import { writeAggregateLine } from '../../../src/log/records/signed_line.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import { shownFacts } from '../../../src/service/shown_facts.js';

/** Returns the facts that aggregates of a service show. */
export function sampleShown(name = 'service'): ReturnType<typeof shownFacts> {
  return shownFacts({ service: { name, encodedAssetId: 'base64' } as Config['service'] });
}

/** Returns the line of an aggregate as a service writes it. */
export function lineOf(aggregate: SignedAggregate, shown = sampleShown()): string {
  return writeAggregateLine(aggregate, shown(aggregate.symbol, aggregate.algorithm));
}

/** Returns the holding of an aggregate since it was signed, or since another time. */
export function sampleHolding(
  aggregate: SignedAggregate,
  minute?: MinuteCandle,
  timeNs = aggregate.signedAtNs,
): PricedHolding {
  return pricedHolding(lineOf(aggregate), timeNs, minute);
}
