import { PAGE_PATHS, REST_PATHS } from '../../wire/paths.js';
import { SIGNATURE_TYPES, SIGNATURES } from '../../wire/signatures.js';
import type { ClusterProgram, DemoCluster, DemoNode } from './prepare_cluster.js';

export interface ClusterBannerOptions extends DemoCluster {
  /** The number of the node that leads. */
  readonly leader: number;
  readonly pidOf: (program: ClusterProgram) => number | undefined;
}

/**
 * Returns the text that the demo of a cluster prints when it is ready: its addresses, and commands to paste into another terminal.
 */
export function renderClusterBanner(options: ClusterBannerOptions): string {
  const { nodes, servers, token, signers, leader, publishersAt, pidOf, dir } = options;
  const edges = nodes.filter(({ role }) => role === 'edge');
  const roleOf = ({ role, number }: DemoNode) =>
    role === 'edge' ? 'edge' : number === leader ? 'leader' : 'standby';
  const nodeLine = (node: DemoNode) => {
    const remark = publishersAt.includes(node) ? '  a simulated publisher connects here' : '';
    return `  ${node.name}   ${roleOf(node).padEnd(7)}  ${node.url}${remark}\n`;
  };
  const killLine = (program: ClusterProgram, what: string) => `  kill -9 ${pidOf(program)}   # ${what}\n`;
  return `
tickseal runs as a cluster: two aggregators and two edges, over three NATS servers. Every price here is simulated; every signature is real.

${nodes.map(nodeLine).join('')}
  token    ${token}
  signers  ${signerLines(signers).join('\n           ')}
  files    ${dir}

The live page of each edge, which shows who serves it and who leads:

${edges.map((node) => `  ${pageUrl(node, options)}\n`).join('')}
Try, in another terminal. For each process that ends, a command appears here that starts it again:

  curl -H "Authorization: Basic ${token}" ${edges.at(-1)!.url}${REST_PATHS.nodes}
${nodes.map((node) => killLine(node, `${KILLED[roleOf(node)]}, ${node.name}`)).join('')}${servers.map((server) => killLine(server, server.name)).join('')}
`;
}

function signerLines(signers: DemoCluster['signers']): string[] {
  const aggregates = SIGNATURE_TYPES.map((type) => `${signers[type]} (${SIGNATURES[type].title} aggregates)`);
  return [...aggregates, `${signers.stream} (streams)`];
}

const KILLED = { leader: 'the leader', standby: 'the standby', edge: 'an edge' } as const;

/** Returns the page's address. Browsers never send the part after #, so no server or log receives the token. */
function pageUrl({ url }: DemoNode, { token, signers }: DemoCluster): string {
  const keys = SIGNATURE_TYPES.map((type) => `&signer=${signers[type]}`).join('');
  return `${url}${PAGE_PATHS.home}#token=${token}${keys}&stream_signer=${signers.stream}`;
}
