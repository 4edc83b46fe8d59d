import type { z } from 'zod';
import { type NodeList, stateOf } from '../../model/node_list.js';
import { type Clock, secondOf } from '../../model/time.js';
import { REST_PATHS } from '../../wire/paths.js';
import { openRoute, type Route, tokenRoute } from '../rest/route.js';
import { type nodeSigners, nodesStatus, signersAnswer } from '../schemas/node_schemas.js';

export interface NodeRouteOptions {
  /** Returns the current nodes. */
  readonly nodes: () => NodeList;
  readonly clock: Clock;
  /** The announcements of the service's keys, each as `0x` hex. */
  readonly announcements: readonly string[];
}

/** Makes the route that lists the processes that serve these prices, and the signing keys of these processes. */
export function nodeRoutes({ nodes, clock, announcements }: NodeRouteOptions): [string, Route][] {
  return [
    [
      REST_PATHS.signers,
      openRoute({
        summary: 'The keys that the nodes of this service sign with, and the key of its public log',
        response: signersAnswer,
        raw: 'application/json',
        handle: () => ({
          data: JSON.stringify(signersOf(nodes(), announcements, Number(secondOf(clock.nowNs())))),
        }),
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

function signersOf(
  list: NodeList,
  announcements: readonly string[],
  nowS: number,
): z.infer<typeof signersAnswer> {
  const { log } = list;
  const facts = log && { origin: log.origin, vkey: log.vkey, policy: log.policy, max_delay: log.maxDelayS };
  return { data: signerEntries(list, nowS), announcements: [...announcements], ...(facts && { log: facts }) };
}

function signerEntries({ signers }: NodeList, nowS: number): z.infer<typeof nodeSigners> {
  return signers.map((signer) => ({
    address: signer.address,
    signature_type: signer.signatureType,
    role: signer.role,
    node: signer.node,
    since: signer.sinceS,
    state: stateOf(signer, nowS),
    ...(signer.fromS !== undefined && { from: signer.fromS }),
    ...(signer.untilS !== undefined && { until: signer.untilS }),
  }));
}

function statusOf({ self, nodes }: NodeList): z.infer<typeof nodesStatus> {
  return { self, nodes: nodes.map(({ node, name, role }) => ({ node, name, role })) };
}
