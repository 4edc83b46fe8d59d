import type { Config } from '../config/config.js';
import { ALGORITHM_VERSION, algorithmChecksum } from '../crypto/algorithm_definition.js';
import { encodedAssetId } from '../crypto/evm.js';
import type { ShownFacts } from '../log/records/signed_line.js';
import type { AggregationType } from '../model/asset.js';

/** Makes the function that returns the facts of new aggregates. A reload does not change these facts. */
export function shownFacts({
  service,
}: Pick<Config, 'service'>): (symbol: string, algorithm: AggregationType) => ShownFacts {
  const known = new Map<string, ShownFacts>();
  return (symbol, algorithm) => {
    const key = `${algorithm} ${symbol}`;
    let facts = known.get(key);
    if (facts === undefined) {
      facts = {
        serviceName: service.name,
        encodedAssetId: encodedAssetId(symbol, service.encodedAssetId),
        version: ALGORITHM_VERSION,
        checksum: algorithmChecksum(algorithm),
      };
      known.set(key, facts);
    }
    return facts;
  };
}
