import type { SignedAggregate } from '../../model/signed_price.js';
import { qualityFields, qualityOf } from '../../wire/price_quality.js';

/** Adds the facts about an aggregate's inputs to its line, if the service still keeps the inputs. */
export function withQuality(line: string, { inputs, signedAtNs }: SignedAggregate): string {
  const quality = qualityOf(inputs, signedAtNs);
  return quality === undefined ? line : `${line.slice(0, -1)},"quality":{${qualityFields(quality)}}}`;
}
