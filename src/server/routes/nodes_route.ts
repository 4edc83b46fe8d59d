import type { z } from 'zod';
import type { NodeList } from '../../model/node_list.js';
import { REST_PATHS } from '../../wire/paths.js';
import { openRoute, type Route, tokenRoute } from '../rest/route.js';
import { nodeSigners, nodesStatus } from '../schemas/node_schemas.js';

export interface NodeRouteOptions {
  /** Returns the present nodes. */
  readonly nodes: () => NodeList;
}

/** Makes the route that lists the processes that serve these prices, and the keys with which they sign. */
export function nodeRoutes({ nodes }: NodeRouteOptions): [string, Route][] {
  return [
    [
      REST_PATHS.signers,
      openRoute({
        summary: 'The keys that the nodes of this service sign with',
        response: nodeSigners,
        handle: () => ({ data: JSON.stringify(signerEntries(nodes())) }),
      }),
    ],
    [
      REST_PATHS.nodes,
      tokenRoute({
        summary: 'The nodes of this service: which one answers, and which one makes prices',
        response: nodesStatus,
        handle: () => ({ data: JSON.stringify(statusOf(nodes())) }),
      }),
    ],
  ];
}

function signerEntries({ signers }: NodeList): z.infer<typeof nodeSigners> {
  return signers.map(({ address, signatureType, role, node, sinceS }) => ({
    address,
    signature_type: signatureType,
    role,
    node,
    since: sinceS,
  }));
}

function statusOf({ self, nodes }: NodeList): z.infer<typeof nodesStatus> {
  return { self, nodes: nodes.map(({ node, name, role }) => ({ node, name, role })) };
}
