import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { type NatsStaff, type NatsUser, natsAccounts } from '../../cluster/nats/nats_accounts.js';
import { natsPublicKey, newNatsKey } from '../../cluster/nats/nats_key.js';
import { NODE_MAX } from '../../model/node_list.js';
import { writeNewFile } from '../keygen_command.js';
import { NODE_KEYS, writeUnit } from './cluster_files.js';

type Role = NatsUser['role'];

/** A change that was written into the folder of a cluster. */
export interface ClusterChange {
  /** The folder of the node: `node-4`. */
  readonly name: string;
  readonly role: Role;
  /** The folders of the NATS servers, whose files have changed. */
  readonly servers: readonly string[];
}

/** The part of a node's configuration that this command has made. */
const nodeSections = z.object({
  cluster: z.object({
    name: z.string(),
    role: z.enum(['aggregator', 'edge']),
    node: z.int(),
    servers: z.array(z.string()),
  }),
});

interface NodeFiles {
  readonly folder: string;
  readonly user: NatsUser;
}

/**
 * Adds a node to the files of a cluster: a folder with the keys and the configuration of another node, and its user on the servers.
 * @throws Error with one sentence when the folder is not what `cluster-init` has made
 */
export function addNode(dir: string, role: Role): ClusterChange {
  const cluster = readCluster(dir);
  const node = freeNumber(dir);
  // The nodes of a role differ in their numbers alone. A first edge has what an edge needs of an aggregator.
  const { members } = cluster;
  const like = members.find(({ user }) => user.role === role) ?? members[0]!;
  const key = newNatsKey();
  const name = `node-${node}`;
  const folder = join(dir, name);
  mkdirSync(folder, { mode: 0o700 });
  for (const file of [...NODE_KEYS[role].map((one) => `${one}.hex`), 'nats-ca.pem'])
    if (existsSync(join(like.folder, file))) copyFileSync(join(like.folder, file), join(folder, file));
  writeNewFile(join(folder, 'nats.nk'), `${key.seed}\n`);
  writeNewFile(join(folder, 'tickseal.yaml'), nodeText(like, node, role));
  writeUnit(folder);
  const users = [...members.map(({ user }) => user), { node, role, login: { nkey: key.publicKey } }];
  return { name, role, servers: writeAccounts(cluster, users) };
}

/**
 * Removes a node from the files of a cluster: its user on the servers, and its folder, which gets the name `removed-4`.
 * @param name the folder of the node, such as `node-4`
 * @throws Error with one sentence when the folder is not what `cluster-init` has made, or the node is the last aggregator
 */
export function removeNode(dir: string, name: string): ClusterChange {
  const cluster = readCluster(dir);
  const member = cluster.members.find(({ folder }) => folder === join(dir, name));
  if (member === undefined)
    throw new Error(
      `${dir} has no node ${name}: its nodes are ${cluster.members.map(({ user }) => `node-${user.node}`).join(', ')}`,
    );
  const users = cluster.members.filter((one) => one !== member).map(({ user }) => user);
  if (!users.some(({ role }) => role === 'aggregator'))
    throw new Error(`${name} is the last aggregator: without one, a cluster makes no prices`);
  const servers = writeAccounts(cluster, users);
  renameSync(member.folder, join(dir, `removed-${member.user.node}`));
  return { name, role: member.user.role, servers };
}

interface Cluster {
  readonly dir: string;
  /** `cluster.name` of the nodes. */
  readonly name: string;
  readonly members: readonly NodeFiles[];
  readonly staff: NatsStaff;
  /** The configuration of each NATS server without its accounts, by the name of its folder. */
  readonly servers: ReadonlyMap<string, string>;
}

/** Reads the nodes and the servers of a folder. Changes nothing. */
function readCluster(dir: string): Cluster {
  const folders = existsSync(dir) ? readdirSync(dir) : [];
  const numbered = (kind: string) =>
    folders.filter((one) => new RegExp(`^${kind}-\\d+$`).test(one)).sort((a, b) => numberOf(a) - numberOf(b));
  const nodes = numbered('node').map((folder) => join(dir, folder));
  if (nodes.length === 0)
    throw new Error(`${dir} has no folder node-1: name the folder that cluster-init has made`);
  const sections = nodes.map((folder) => sectionsOf(join(folder, 'tickseal.yaml')).cluster);
  const members = sections.map(({ node, role }, i): NodeFiles => {
    return { folder: nodes[i]!, user: { node, role, login: loginIn(join(nodes[i]!, 'nats.nk')) } };
  });
  const { name } = sections[0]!;
  const staff = { operator: loginIn(join(dir, 'operator.nk')), system: loginIn(join(dir, 'system.nk')) };
  const accounts = natsAccounts(
    name,
    members.map(({ user }) => user),
    staff,
  );
  const servers = new Map(
    numbered('nats').map((folder) => {
      const file = join(dir, folder, 'nats.conf');
      const text = readFileSync(file, 'utf8');
      if (!text.endsWith(`\n${accounts}`))
        throw new Error(
          `${file}: its accounts are not those that cluster-init makes for ${members.map(({ user }) => `node-${user.node}`).join(', ')}: undo what was changed there by hand`,
        );
      return [folder, text.slice(0, -accounts.length)];
    }),
  );
  return { dir, name, members, staff, servers };
}

/** Returns the public key of the seed in a file. */
function loginIn(file: string): { readonly nkey: string } {
  return { nkey: natsPublicKey(readFileSync(file, 'utf8').trim()) };
}

function sectionsOf(file: string): z.output<typeof nodeSections> {
  const read = nodeSections.safeParse(parseDocument(readFileSync(file, 'utf8')).toJS());
  if (read.success) return read.data;
  throw new Error(`${file}: has no section cluster with name, role, node and servers`);
}

/** Writes the accounts of all servers. @returns the folders of the servers */
function writeAccounts(
  { dir, name, staff, servers }: Cluster,
  users: readonly NatsUser[],
): readonly string[] {
  for (const [folder, text] of servers)
    writeFileSync(join(dir, folder, 'nats.conf'), text + natsAccounts(name, users, staff));
  return [...servers.keys()];
}

/** Returns the number of a new node: above those of all nodes, also removed ones, because signed times contain the number. */
function freeNumber(dir: string): number {
  const taken = readdirSync(dir).filter((name) => /^(?:node|removed)-\d+$/.test(name));
  const number = Math.max(...taken.map(numberOf)) + 1;
  if (number > NODE_MAX)
    throw new Error(
      `a cluster has at most ${NODE_MAX} numbers: delete a folder removed-… of a node that has stopped, the newest one`,
    );
  return number;
}

function numberOf(folder: string): number {
  return Number(folder.split('-').at(-1));
}

/** Returns the configuration of a new node. Its number decides which server it prefers, as those of the others do. */
function nodeText({ folder, user }: NodeFiles, node: number, role: Role): string {
  const file = join(folder, 'tickseal.yaml');
  const { servers } = sectionsOf(file).cluster;
  const document = parseDocument(readFileSync(file, 'utf8'));
  document.setIn(['cluster', 'node'], node);
  document.setIn(['cluster', 'role'], role);
  document.setIn(
    ['cluster', 'servers'],
    servers.map((_, i) => servers[(i + node - user.node) % servers.length]),
  );
  if (role === 'edge')
    for (const key of NODE_KEYS.aggregator) if (key !== 'stream') document.deleteIn(['keys', key]);
  return document.toString({ lineWidth: 0 });
}
