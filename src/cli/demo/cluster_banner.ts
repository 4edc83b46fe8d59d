import { PAGE_PATHS, REST_PATHS } from '../../wire/paths.js';
import { RESTART_MS } from './kept_process.js';
import type { DemoCluster, DemoNode } from './prepare_cluster.js';

export interface ClusterBannerOptions extends DemoCluster {
  /** The number of the node that leads; `undefined` while no node leads. */
  readonly leader: number | undefined;
  /** The node to which the simulated publishers connect. */
  readonly publishersAt: DemoNode;
  readonly pidOf: (node: DemoNode) => number | undefined;
  /** The process ID of one of the NATS servers. */
  readonly natsPid: number | undefined;
  /** The folder that contains the logs of the nodes. */
  readonly runDir: string;
}

/**
 * Returns the text that the demo of a cluster prints when it is ready: its addresses, and commands to paste into another terminal.
 */
export function renderClusterBanner(options: ClusterBannerOptions): string {
  const { nodes, token, signers, leader, publishersAt, pidOf, natsPid, runDir } = options;
  const edges = nodes.filter(({ role }) => role === 'edge');
  const lastEdge = edges.at(-1)!;
  const leading = nodes.find(({ number }) => number === leader);
  const standby = nodes.find(({ number, role }) => role === 'aggregator' && number !== leader);
  const kills = [
    ...(leading === undefined ? [] : [killLine(pidOf(leading), `the leader, node ${leading.number}`)]),
    ...(standby === undefined ? [] : [killLine(pidOf(standby), `the standby, node ${standby.number}`)]),
    killLine(pidOf(lastEdge), `an edge, node ${lastEdge.number}`),
    killLine(natsPid, 'a NATS server'),
  ];
  return `
tickseal runs as a cluster: two aggregators and two edges, over three NATS servers. Every price here is simulated; every signature is real.

${nodes.map((node) => nodeLine(node, leader, publishersAt)).join('')}
  token    ${token}
  signers  ${signers.evm} (EVM aggregates)
           ${signers.stark} (Stark aggregates)
           ${signers.stream} (streams)
  logs     ${runDir}

The live page of each edge, which shows who serves it and who leads:

${edges.map((node) => `  ${pageUrl(node, options)}\n`).join('')}
Try, in another terminal. What ends is started again after ${RESTART_MS / 1000} s:

  curl -H "Authorization: Basic ${token}" ${lastEdge.url}${REST_PATHS.nodes}
${kills.map((line) => `  ${line}\n`).join('')}
`;
}

function nodeLine(
  { number, role, url }: DemoNode,
  leader: number | undefined,
  publishersAt: DemoNode,
): string {
  const roleNow = role === 'edge' ? 'edge' : number === leader ? 'leader' : 'standby';
  const remark = number === publishersAt.number ? '  the simulated publishers connect here' : '';
  return `  node ${number}   ${roleNow.padEnd(7)}  ${url}${remark}\n`;
}

/** Returns the page's address. Browsers never send the part after #, so no server or log receives the token. */
function pageUrl({ url }: DemoNode, { token, signers }: DemoCluster): string {
  const { evm, stark, stream } = signers;
  return `${url}${PAGE_PATHS.home}#token=${token}&signer=${evm}&signer=${stark}&stream_signer=${stream}`;
}

function killLine(pid: number | undefined, what: string): string {
  return `kill -9 ${pid}   # ${what}`;
}
