import { type Command, InvalidArgumentError, Option } from 'commander';
import { readNamedFile } from '../config/unreadable_file.js';
import { NODE_MAX } from '../model/node_list.js';
import type { ServerAddress } from './cluster_init/cluster_files.js';
import { errorText, outputOf, ownText, writeLine } from './shown_line.js';

interface ClusterInitOptions {
  readonly add?: 'aggregator' | 'edge';
  readonly remove?: string;
  readonly nodes?: number;
  readonly aggregators: number;
  readonly servers?: readonly ServerAddress[];
  readonly name: string;
  readonly config?: string;
  readonly tls: boolean;
}

const NATS_PORT = 4_222;
/** The largest port that a server can offer to nodes. The server's other ports are up to 4,000 larger. */
const PORT_MAX = 61_535;

/**
 * Adds `tickseal cluster-init`. The exit status is 2 if the configuration is invalid, and 1 if the files cannot be written.
 */
export function registerClusterInit(program: Command): void {
  program
    .command('cluster-init')
    .description(
      'make the files of a new cluster: NATS servers, users, certificates, and the configuration of each node; or add or remove a node',
    )
    .argument('<dir>', 'the folder to make or to change; copy each folder in it to its machine')
    .addOption(
      new Option('--add <role>', 'add a node to the cluster of the folder').choices(['edge', 'aggregator']),
    )
    .addOption(
      new Option(
        '--remove <node>',
        'remove a node, such as node-4, from the cluster of the folder',
      ).conflicts('add'),
    )
    .option('--nodes <number>', 'the number of nodes', parseCount)
    .option(
      '--aggregators <number>',
      'the number of nodes that can make prices; the others are edges',
      parseCount,
      2,
    )
    .option('--name <word>', 'the name of the cluster', parseName, 'main')
    .option('--config <file>', 'the other sections of the configuration, the same on all nodes')
    .option('--no-tls', 'without certificates, for a cluster on one machine')
    .option(
      '--servers <hosts>',
      'the hosts of one, three or five NATS servers, such as 10.0.0.1,10.0.0.2,10.0.0.3',
      parseServers,
    )
    .action(async (dir: string, options: ClusterInitOptions, command: Command) => {
      try {
        const { out, err } = outputOf(command);
        const isChange = options.add !== undefined || options.remove !== undefined;
        if (isChange) writeLine(out, ownText(await changeCluster(dir, options)));
        else await initCluster(dir, options, (text) => writeLine(err, ownText(text)));
      } catch (error) {
        writeLine(outputOf(command).err, errorText(error));
        process.exitCode = 1;
      }
    });
}

/** Adds or removes a node. @returns the steps that the operator takes next, in their order */
async function changeCluster(dir: string, { add, remove }: ClusterInitOptions): Promise<string> {
  const { addNode, removeNode } = await import('./cluster_init/cluster_changes.js');
  const { name, role, servers } = add === undefined ? removeNode(dir, remove!) : addNode(dir, add);
  const files = servers.map((server) => `${dir}/${server}/nats.conf`).join(', ');
  const reload = 'nats-server --signal reload=PID';
  if (add === undefined)
    return `${name}, an ${role}, is removed from the files. In this order:
1. stop ${name}; its readers connect to other nodes
2. on each NATS server, one after the other: replace its nats.conf (${files}), then run
   ${reload}`;
  return `${dir}/${name} has the files of an ${role}. In this order:
1. on each NATS server, one after the other: replace its nats.conf (${files}), then run
   ${reload} && sleep 1 && ${reload}
   (the first reload makes the account of the node, and the second one gives it the log)
2. copy ${dir}/${name} to its machine, and start the node with its tickseal.yaml`;
}

async function initCluster(
  dir: string,
  { nodes, aggregators, servers, name, config, tls }: ClusterInitOptions,
  say: (text: string) => void,
): Promise<void> {
  if (nodes === undefined || servers === undefined)
    throw new RangeError('--nodes and --servers are required, except with --add and --remove');
  if (aggregators > nodes)
    throw new RangeError(`--aggregators is ${aggregators}, more than --nodes, ${nodes}`);
  const sections = config === undefined ? '' : readSections(config);
  // The command loads the module here, because other commands do not need the client of NATS.
  const { InvalidSections, writeClusterFiles } = await import('./cluster_init/cluster_files.js');
  try {
    writeClusterFiles({
      dir,
      name,
      nodes,
      aggregators,
      servers,
      sectionsOf: () => sections,
      sectionsFile: config,
      hasTls: tls,
    });
  } catch (error) {
    if (!(error instanceof InvalidSections)) throw error;
    say(error.message);
    process.exitCode = 2;
  }
}

function readSections(file: string): string {
  const text = readNamedFile(file).toString();
  const own = /^(keys|cluster):/m.exec(text)?.[1];
  if (own !== undefined)
    throw new Error(`${file}: has the section ${own}, which cluster-init makes: remove it`);
  // The command appends sections, which is not possible after a map in braces, such as JSON.
  if (/^[^\s#-]/m.exec(text)?.[0] === '{')
    throw new Error(
      `${file}: is one map in braces, as JSON is: begin each section on a line of its own, without the outer braces`,
    );
  return text;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > NODE_MAX)
    throw new InvalidArgumentError(`expected a number from 1 to ${NODE_MAX}`);
  return count;
}

function parseName(text: string): string {
  if (!/^[a-z][a-z0-9_]{0,31}$/.test(text))
    throw new InvalidArgumentError('expected a word of lower-case letters, digits and _');
  return text;
}

function parseServers(text: string): ServerAddress[] {
  const servers = text.split(',').map((one) => {
    const [, host, port] = /^([A-Za-z0-9.-]+)(?::(\d+))?$/.exec(one) ?? [];
    const address = { host: host ?? '', port: Number(port ?? NATS_PORT) };
    if (host === undefined || address.port < 1 || address.port > PORT_MAX)
      throw new InvalidArgumentError(
        `expected HOST or HOST:PORT with a port up to ${PORT_MAX}, and not ${one}`,
      );
    return address;
  });
  if (![1, 3, 5].includes(servers.length))
    throw new InvalidArgumentError('expected one, three or five hosts');
  return servers;
}
