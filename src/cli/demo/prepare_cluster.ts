import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { demoConfigText } from './config_text.js';
import { demoIdentity, publicKeyOf, writeServiceKeys } from './prepare.js';
import { ensureDemoSecrets, ensureStreamKey } from './secrets.js';

/** The roles of node 1, node 2 and so on. */
export const DEMO_ROLES = ['aggregator', 'aggregator', 'edge', 'edge'] as const;

/** A process of the cluster. */
export interface DemoNode {
  /** The node's number, from 1. */
  readonly number: number;
  readonly role: 'aggregator' | 'edge';
  /** `http://` address of the REST interface. The sockets have the same host and port. */
  readonly url: string;
  readonly adminUrl: string;
  readonly configFile: string;
  readonly logFile: string;
}

export interface DemoCluster {
  readonly nodes: readonly DemoNode[];
  /** The token of the user of the demo. */
  readonly token: string;
  readonly signers: DemoSigners;
}

/** The signers. The Stark signer is a public key; the others are addresses. */
export interface DemoSigners {
  readonly evm: string;
  readonly stark: string;
  /** The signer of all nodes' streaming payloads. */
  readonly stream: string;
}

export interface ClusterPlaces {
  /** The folder with keys and tokens. */
  readonly dataDir: string;
  /**
   * The folder with the configuration, log file and data folder of each node. Each start uses a new folder, because it begins with
   * an empty cluster log.
   */
  readonly runDir: string;
  /** The ports. Each node has one port. */
  readonly ports: readonly number[];
  readonly adminPorts: readonly number[];
  /** Addresses of the NATS servers. */
  readonly servers: readonly string[];
  /** Returns the user and password of a node on the NATS servers. */
  readonly credentialsOf: (node: number) => string;
}

/** Makes the configuration of each node. Also makes the keys and tokens of the demo, unless they exist. */
export function prepareDemoCluster({
  dataDir,
  runDir,
  ports,
  adminPorts,
  servers,
  credentialsOf,
}: ClusterPlaces): DemoCluster {
  const dir = resolve(dataDir);
  const { secrets } = ensureDemoSecrets(dir);
  const { serviceKeys, token } = secrets;
  const aggregateKeys = writeServiceKeys(dir, secrets);
  const streamKey = ensureStreamKey(dir);
  const nodes = DEMO_ROLES.map((role, index): DemoNode => {
    const number = index + 1;
    const nodeDir = join(runDir, `node-${number}`);
    mkdirSync(nodeDir);
    const configFile = join(nodeDir, 'tickseal.yaml');
    const credentials = join(nodeDir, 'nats.creds');
    writeFileSync(credentials, credentialsOf(number), { mode: 0o600 });
    const [port, adminPort] = [ports[index]!, adminPorts[index]!];
    const text = demoConfigText({
      ...demoIdentity(secrets),
      port,
      adminPort,
      keyFiles: { ...(role === 'aggregator' && aggregateKeys), stream: streamKey.file },
      storageDir: join(nodeDir, 'store'),
      cluster: {
        role,
        node: number,
        servers: preferring(servers, index),
        credentials: { file: credentials },
      },
    });
    writeFileSync(configFile, text, { mode: 0o600 });
    return {
      number,
      role,
      url: `http://127.0.0.1:${port}`,
      adminUrl: `http://127.0.0.1:${adminPort}`,
      configFile,
      logFile: join(nodeDir, 'log.jsonl'),
    };
  });
  const signers = {
    evm: publicKeyOf(serviceKeys.evm, 'evm'),
    stark: publicKeyOf(serviceKeys.stark, 'stark'),
    stream: publicKeyOf(streamKey.hex, 'evm'),
  };
  return { nodes, token, signers };
}

/** Returns the servers in a node's order of preference. The order assumes that each node's machine has a server. */
function preferring(servers: readonly string[], index: number): string[] {
  return servers.map((_, at) => servers[(index + at) % servers.length]!);
}
