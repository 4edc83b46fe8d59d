import type { z } from 'zod';
import { type NodeList, type PublicLogFacts, stateOf } from '../../model/node_list.js';
import { type Clock, secondOf } from '../../model/time.js';
import { REST_PATHS } from '../../wire/paths.js';
import { openRoute, type Route, tokenRoute } from '../rest/route.js';
import { type nodeSigners, nodesStatus, type publicLog, signersAnswer } from '../schemas/node_schemas.js';

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
        summary: 'The keys that the nodes of this service sign with, and the keys of its public logs',
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
  const { log, streamLog, streamLogs = [] } = list;
  return {
    data: signerEntries(list, nowS),
    announcements: [...announcements],
    ...(log && { log: factsOf(log) }),
    ...(streamLog && { stream_log: factsOf(streamLog) }),
    ...(streamLogs.length > 0 && { stream_logs: [...streamLogs] }),
  };
}

function factsOf({ origin, vkey, policy, maxDelayS }: PublicLogFacts): z.infer<typeof publicLog> {
  return { origin, vkey, policy, max_delay: maxDelayS };
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
