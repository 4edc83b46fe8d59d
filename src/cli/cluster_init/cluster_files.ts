import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type NatsUser, natsAccounts } from '../../cluster/nats/nats_accounts.js';
import { newNatsKey } from '../../cluster/nats/nats_key.js';
import { SIGNING_KEYS } from '../../config/key_source.js';
import { parseConfig } from '../../config/load.js';
import { toHex } from '../../model/hex.js';
import { bySignatureType, DEFAULT_SIGNATURE_TYPE, type SignatureType } from '../../wire/signatures.js';
import { deployFile, unitText } from '../host_units.js';
import { createPrivateKey, writeNewFile } from '../keygen_command.js';
import { makeAuthority, makeServerCertificate } from './nats_authority.js';

export interface ClusterPlan {
  /** The folder to create. */
  readonly dir: string;
  /** `cluster.name` of the nodes. */
  readonly name: string;
  /** The number of nodes. The first nodes are aggregators, and the others are edges. */
  readonly nodes: number;
  readonly aggregators: number;
  /** The host of each NATS server, and its port for nodes. */
  readonly servers: readonly ServerAddress[];
  /** Returns the sections of a node's configuration other than `keys` and `cluster`. */
  readonly sectionsOf: (node: number) => string;
  /** The file that has these sections; `undefined` when there are none. */
  readonly sectionsFile: string | undefined;
  /** True when the connections between nodes and servers use TLS. */
  readonly hasTls: boolean;
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** The differences between a server's other ports and its port for nodes. The default ports are 4222, 6222 and 8222. */
const ROUTE_PORT_AFTER = 2_000;
const MONITOR_PORT_AFTER = 4_000;
/** The number of connections of one server. */
const CONNECTIONS_MAX = 1_000;

/** An error of the configuration that every node would have. The message has one line for each error. */
export class InvalidSections extends Error {}

/** The names of the keys of each role. */
export const NODE_KEYS = { aggregator: SIGNING_KEYS, edge: ['stream'] } as const;

/**
 * Writes the files of a cluster.
 * @throws InvalidSections when the configuration of a node would have errors; nothing is written then
 * @throws Error with a message of one sentence when the folder exists or a certificate cannot be made
 */
export function writeClusterFiles(plan: ClusterPlan): void {
  const { dir, name, nodes, aggregators, servers, hasTls } = plan;
  if (existsSync(dir)) throw new Error(`${dir} exists: its keys may be in use, so nothing was written`);
  checkSections(plan);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const members = Array.from({ length: nodes }, (_, i) => {
    const role = i < aggregators ? ('aggregator' as const) : ('edge' as const);
    return { node: i + 1, role, key: newNatsKey() };
  });
  const users = members.map(({ node, role, key }): NatsUser => {
    return { node, role, login: { nkey: key.publicKey } };
  });
  if (hasTls) makeAuthority(dir);
  const staff = { operator: newNatsKey(), system: newNatsKey() };
  for (const [user, { seed }] of Object.entries(staff)) writeNewFile(join(dir, `${user}.nk`), `${seed}\n`);
  const { operator, system } = staff;
  const accounts = natsAccounts(name, users, {
    operator: { nkey: operator.publicKey },
    system: { nkey: system.publicKey },
  });
  for (const index of servers.keys()) writeServer(plan, index, accounts);
  const secrets = { ...bySignatureType(keyText), stream: keyText(DEFAULT_SIGNATURE_TYPE) };
  for (const { node, role, key } of members) {
    const folder = join(dir, `node-${node}`);
    mkdirSync(folder);
    for (const one of NODE_KEYS[role]) writeNewFile(join(folder, `${one}.hex`), secrets[one]);
    writeNewFile(join(folder, 'nats.nk'), `${key.seed}\n`);
    if (hasTls) copyFileSync(join(dir, 'ca.pem'), join(folder, 'nats-ca.pem'));
    writeNewFile(join(folder, 'tickseal.yaml'), nodeText(plan, node, role));
    writeUnit(folder);
  }
}

/** Writes the unit of a node for its folder. */
export function writeUnit(folder: string): void {
  const dir = resolve(folder);
  const places = {
    node: '/usr/bin/node',
    root: '/opt/tickseal',
    dir,
    dataDir: join(dir, 'data'),
    user: 'tickseal',
  };
  writeNewFile(join(folder, 'tickseal.service'), unitText('tickseal.service', places));
}

/** Checks the configuration of each role, without the files that it names: these may exist on the machines of the nodes only. */
function checkSections(plan: ClusterPlan): void {
  const { sectionsFile, aggregators, nodes } = plan;
  if (sectionsFile === undefined) return;
  const roles = aggregators < nodes ? (['aggregator', 'edge'] as const) : (['aggregator'] as const);
  const errors = roles.flatMap((role) => {
    const result = parseConfig(nodeText(plan, 1, role), sectionsFile);
    return result.ok ? [] : result.errors;
  });
  if (errors.length > 0) throw new InvalidSections([...new Set(errors)].join('\n'));
}

function writeServer({ dir, servers, hasTls }: ClusterPlan, index: number, accounts: string): void {
  const folder = resolve(dir, `nats-${index + 1}`);
  mkdirSync(folder);
  const { host, port } = servers[index]!;
  const own = hasTls ? serverTls(folder) : '';
  if (hasTls) {
    makeServerCertificate(dir, folder, host);
    copyFileSync(join(dir, 'ca.pem'), join(folder, 'ca.pem'));
  }
  const scheme = hasTls ? 'tls' : 'nats';
  const routes = servers.map((one) =>
    JSON.stringify(`${scheme}://${one.host}:${one.port + ROUTE_PORT_AFTER}`),
  );
  const lines = [
    `server_name: n${index + 1}`,
    `listen: ${JSON.stringify(`${host}:${port}`)}`,
    `http: "127.0.0.1:${port + MONITOR_PORT_AFTER}"`,
    `max_connections: ${CONNECTIONS_MAX}`,
    'max_payload: 1MB',
    'max_pending: 64MB',
    'write_deadline: "2s"',
    ...(hasTls ? [`tls {${own}}`] : []),
    `jetstream { store_dir: ${JSON.stringify(join(folder, 'store'))}, sync_interval: always, max_memory_store: 64MB }`,
    ...(servers.length === 1
      ? []
      : [
          'cluster {',
          '  name: tickseal',
          `  listen: ${JSON.stringify(`${host}:${port + ROUTE_PORT_AFTER}`)}`,
          `  routes: [${routes.join(', ')}]`,
          ...(hasTls
            ? [`  tls {${own}, ca_file: ${JSON.stringify(join(folder, 'ca.pem'))}, verify: true }`]
            : []),
          '}',
        ]),
    accounts,
  ];
  writeNewFile(join(folder, 'nats.conf'), lines.join('\n'));
  writeNewFile(
    join(folder, 'nats-server.service'),
    deployFile('nats-server.service').replaceAll('/etc/nats', folder),
  );
}

function serverTls(folder: string): string {
  const file = (name: string) => JSON.stringify(join(folder, name));
  return ` cert_file: ${file('server.pem')}, key_file: ${file('server.key')}, min_version: "1.3" `;
}

/** Returns the configuration of a node. File names are relative to the configuration's folder. */
function nodeText(
  { name, servers, sectionsOf, hasTls }: ClusterPlan,
  node: number,
  role: NatsUser['role'],
): string {
  // Each node prefers a different server. So a node uses the server on its own machine, if each machine has a server and a node.
  const ordered = servers.map((_, i) => servers[(i + node - 1) % servers.length]!);
  const urls = ordered.map(({ host, port }) => `${hasTls ? 'tls' : 'nats'}://${host}:${port}`);
  const cluster = {
    name,
    role,
    node,
    servers: urls,
    credentials: { file: 'nats.nk' },
    ...(hasTls && { tls: { ca_file: 'nats-ca.pem' } }),
    replicas: servers.length === 1 ? 1 : 3,
  };
  const files = Object.fromEntries(NODE_KEYS[role].map((key) => [key, { file: `${key}.hex` }]));
  return `${sectionsOf(node).trimEnd()}\nkeys: ${JSON.stringify(files)}\ncluster: ${JSON.stringify(cluster)}\n`;
}

function keyText(type: SignatureType): string {
  return `${toHex(createPrivateKey(type))}\n`;
}
