import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SigningKey } from '../../config/key_source.js';
import type { SignatureType } from '../../model/asset.js';
import { bySignatureType, DEFAULT_SIGNATURE_TYPE } from '../../wire/signatures.js';
import { writeClusterFiles } from '../cluster_init/cluster_files.js';
import { demoConfigText } from './config_text.js';
import { freePorts } from './free_ports.js';
import { demoIdentity, publicKeyOf } from './prepare.js';
import { ensureDemoSecrets } from './secrets.js';

/** The roles of node 1, node 2 and so on. */
export const DEMO_ROLES = ['aggregator', 'aggregator', 'edge', 'edge'] as const;
const NATS_SERVERS = 3;
/** The distances from a NATS server's port to its other ports. */
const NATS_PORTS = [0, 2_000, 4_000];
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

/** A process of the cluster. */
export interface ClusterProgram {
  readonly name: string;
  /** The program file and its arguments. */
  readonly command: readonly string[];
  readonly logFile: string;
}

export interface DemoNode extends ClusterProgram {
  /** The node's number, from 1. */
  readonly number: number;
  readonly role: 'aggregator' | 'edge';
  /** `http://` address of the REST interface. The sockets have the same host and port. */
  readonly url: string;
}

export interface DemoCluster {
  /** The folder with a folder for each node and each server. */
  readonly dir: string;
  readonly nodes: readonly DemoNode[];
  readonly servers: readonly ClusterProgram[];
  /** The node of each simulated publisher. A price needs two of three publishers, so it goes on without any one node. */
  readonly publishersAt: readonly DemoNode[];
  /** The token of the user of the demo. */
  readonly token: string;
  /** The signers of the aggregates of each signature type, and of the streaming payloads of all nodes. */
  readonly signers: Readonly<Record<SigningKey, string>>;
}

export interface ClusterPlaces {
  /** The folder with the tokens and the publishers' keys, which a later start keeps. */
  readonly dataDir: string;
  /** The path of the nats-server program. */
  readonly binary: string;
  /** The port of node 1. The other nodes have the next ports. With 0, the demo chooses free ports. */
  readonly port: number;
}

/**
 * Writes the files of the demo's cluster as `cluster-init` does, and the demo's tokens unless they exist. Each start makes a new
 * cluster, with new keys and an empty log.
 * @param dir the folder to create
 */
export async function prepareDemoCluster(
  dir: string,
  { dataDir, binary, port }: ClusterPlaces,
): Promise<DemoCluster> {
  const { secrets } = ensureDemoSecrets(resolve(dataDir));
  const free = await freePorts(NATS_SERVERS + DEMO_ROLES.length, NATS_PORTS);
  const natsPorts = free.splice(0, NATS_SERVERS);
  const portOf = (node: number) => (port === 0 ? free[node - 1]! : port + node - 1);
  writeClusterFiles({
    dir,
    name: 'main',
    nodes: DEMO_ROLES.length,
    aggregators: DEMO_ROLES.filter((role) => role === 'aggregator').length,
    servers: natsPorts.map((natsPort) => ({ host: '127.0.0.1', port: natsPort })),
    sectionsOf: (node) =>
      demoConfigText({ ...demoIdentity(secrets), port: portOf(node), adminPort: 0, storageDir: 'store' }),
    sectionsFile: undefined,
    hasTls: false,
  });
  const servers = natsPorts.map((_, index): ClusterProgram => {
    const place = join(dir, `nats-${index + 1}`);
    const command = [binary, '-c', join(place, 'nats.conf')];
    return { name: `NATS server ${index + 1}`, command, logFile: join(place, 'log') };
  });
  const nodes = DEMO_ROLES.map((role, index): DemoNode => {
    const number = index + 1;
    const place = join(dir, `node-${number}`);
    return {
      name: `node ${number}`,
      number,
      role,
      url: `http://127.0.0.1:${portOf(number)}`,
      command: [process.execPath, MAIN, 'serve', '--simulated', '--config', join(place, 'tickseal.yaml')],
      logFile: join(place, 'log.jsonl'),
    };
  });
  const signer = (key: SigningKey, type: SignatureType) =>
    publicKeyOf(readFileSync(join(dir, 'node-1', `${key}.hex`), 'utf8').trim(), type);
  return {
    dir,
    nodes,
    servers,
    publishersAt: nodes.slice(1),
    token: secrets.token,
    signers: {
      ...bySignatureType((type) => signer(type, type)),
      stream: signer('stream', DEFAULT_SIGNATURE_TYPE),
    },
  };
}
