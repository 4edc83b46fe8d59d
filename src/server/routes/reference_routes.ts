import { z } from 'zod';
import type { Config, PushedAssets } from '../../config/config.js';
import {
  ALGORITHM_VERSION,
  algorithmChecksum,
  algorithmDefinition,
} from '../../crypto/algorithm_definition.js';
import type { Asset, Simulated } from '../../model/asset.js';
import { distinctSigners, type NodeList, type Signer } from '../../model/node_list.js';
import { type Clock, secondOf } from '../../model/time.js';
import { AGGREGATION_TYPES } from '../../wire/algorithms.js';
import { REST_PATHS } from '../../wire/paths.js';
import { pushedAssetsPath } from '../../wire/service_name.js';
import type { Token } from '../access/tokens.js';
import { openRoute, type Route, tokenRoute } from '../rest/route.js';
import {
  algorithms,
  deployment,
  pushedAssets,
  type serviceSigner,
  taxonomy,
} from '../schemas/value_schemas.js';

export interface ReferenceRouteOptions {
  /** Assets in the order of the configuration. */
  readonly listed: readonly Asset[];
  readonly taxonomyId: number;
  /** Returns the signed statement about these assets; `undefined` when this node signs no payloads. */
  readonly statementOf: (assets: readonly Asset[]) => string | undefined;
  /** The configuration's `service.oracle_id`. */
  readonly oracleId: string;
  readonly nodes: () => NodeList;
  readonly clock: Clock;
  /** The facts about simulated prices. Every list of assets shows these facts. */
  readonly simulation: Simulated;
  /** The configuration's `service.name`, the first word of `service_pushed_assets`. */
  readonly serviceName: string;
  readonly deployments: Config['deployments'];
  readonly pushedAssets: Config['pushedAssets'];
}

/** Makes the routes that show the configuration, and the keys with which the service signs. */
export function referenceRoutes(options: ReferenceRouteOptions): [string, Route][] {
  const { listed, taxonomyId, oracleId, simulation, serviceName } = options;
  const deploymentsJson = JSON.stringify(options.deployments);
  return [
    [
      REST_PATHS.taxonomy,
      tokenRoute({
        summary:
          "The numeric streaming ID of every asset that the token covers, signed, and the service's own keys",
        response: taxonomy,
        errors: [503],
        handle(_values, token) {
          const nodes = options.nodes();
          if (nodes.idsRefusal !== undefined) return { status: 503, error: nodes.idsRefusal };
          const assets = listed.filter(({ symbol }) => token.maySee(symbol));
          const statement = options.statementOf(assets);
          const answer: z.infer<typeof taxonomy> = {
            taxonomy_id: taxonomyId,
            oracle_id: oracleId,
            ...(simulation === true && { simulation }),
            signers: distinctSigners(nodes, Number(secondOf(options.clock.nowNs()))).map(signerEntry),
            ...(statement !== undefined && { statement }),
            assets: assets.map((asset) => taxonomyEntry(asset, simulation)),
          };
          return { data: JSON.stringify(answer) };
        },
      }),
    ],
    [
      REST_PATHS.algorithms,
      tokenRoute({
        summary: 'The written definition of each calculation algorithm, whose SHA-256 is its checksum',
        response: algorithms,
        handle: () => ({ data: ALGORITHMS_JSON }),
      }),
    ],
    [
      REST_PATHS.deployments,
      openRoute({
        summary: 'On-chain deployments on EVM chains',
        response: z.array(deployment),
        handle: () => ({ data: deploymentsJson }),
      }),
    ],
    [
      pushedAssetsPath(serviceName),
      tokenRoute({
        summary: 'Assets that are pushed on chain, by chain and environment (alpha)',
        response: pushedAssets,
        handle: (_values, token) => ({
          data: JSON.stringify(visibleTo(options.pushedAssets, token) satisfies z.infer<typeof pushedAssets>),
        }),
      }),
    ],
  ];
}

/** Returns the pushed assets that a token may see. The result leaves out chains and environments without such an asset. */
function visibleTo(pushed: PushedAssets, token: Token): PushedAssets {
  return mapNonEmpty(pushed, (environments) =>
    mapNonEmpty(environments, (assets) =>
      Object.fromEntries(Object.entries(assets).filter(([symbol]) => token.maySee(symbol))),
    ),
  );
}

/** @returns the changed records by their keys, without records that the change left empty */
function mapNonEmpty<T extends object>(
  record: Readonly<Record<string, T>>,
  change: (value: T) => T,
): Record<string, T> {
  const entries = Object.entries(record).flatMap(([key, value]) => {
    const changed = change(value);
    return isEmpty(changed) && !isEmpty(value) ? [] : [[key, changed] as const];
  });
  return Object.fromEntries(entries);
}

function isEmpty(record: object): boolean {
  return Object.keys(record).length === 0;
}

function signerEntry({ address, signatureType, role }: Signer): z.infer<typeof serviceSigner> {
  return { address, signature_type: signatureType, role };
}

function taxonomyEntry(
  { id, symbol, signatureType, aggregation, calendar, fullName, assetClass }: Asset,
  simulation: Simulated,
): z.infer<typeof taxonomy>['assets'][number] {
  return {
    asset_id: id,
    name: symbol,
    signature_type: signatureType,
    aggregation,
    calendar,
    ...(fullName !== undefined && { full_name: fullName }),
    ...(assetClass !== undefined && { class: assetClass }),
    ...(typeof simulation !== 'boolean' && { simulation: simulation.has(id) }),
  };
}

const ALGORITHMS_JSON = JSON.stringify(
  AGGREGATION_TYPES.map((type) => ({
    type,
    version: ALGORITHM_VERSION,
    checksum: algorithmChecksum(type),
    definition: algorithmDefinition(type),
  })) satisfies z.infer<typeof algorithms>,
);
