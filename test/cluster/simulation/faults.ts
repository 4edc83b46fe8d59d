import { chainedRecord } from '../../../src/cluster/log/record_chain.js';
import type { Random } from '../../random.js';
import type { Agenda } from './agenda.js';
import { FAIR, type MessageServers, SERVERS } from './message_servers.js';
import { TAXONOMIES } from './sample.js';
import type { SimulatedNode } from './simulated_node.js';

/** The parts of the simulation that a fault may change. */
export interface Scene {
  readonly agenda: Agenda;
  readonly servers: MessageServers;
  readonly nodes: readonly SimulatedNode[];
  /** The affected node. */
  readonly node: SimulatedNode;
  readonly random: Random;
  readonly lastsMs: number;
}

/** Begins a fault that ends after some time. @returns a description of the fault */
type Fault = (scene: Scene) => string;

const ALL = {
  kill({ agenda, node, lastsMs }) {
    node.kill();
    agenda.after(lastsMs, () => node.start());
    return `${node.name} is killed`;
  },
  resign({ agenda, node }) {
    const { process } = node;
    void process?.member.resign().then(() => {
      if (node.process !== process) return;
      node.kill();
      agenda.after(100, () => node.start());
    });
    return `${node.name} is asked to restart`;
  },
  pause({ agenda, node, lastsMs }) {
    const { process } = node;
    process?.pause();
    agenda.after(lastsMs, () => process?.resume());
    return `${node.name} is paused`;
  },
  unhealthy({ agenda, node, lastsMs }) {
    node.isHealthy = false;
    agenda.after(lastsMs, () => {
      node.isHealthy = true;
    });
    return `the disk of ${node.name} takes no writes`;
  },
  reload({ node }) {
    node.taxonomy = TAXONOMIES[1]!;
    node.process?.run(() => node.process?.member.reloaded());
    return `${node.name} is reloaded with other streaming IDs`;
  },
  wrongClock({ agenda, node, lastsMs }) {
    node.hasRightClock = false;
    agenda.after(lastsMs, () => {
      node.hasRightClock = true;
    });
    return `the clock of ${node.name} is found wrong`;
  },
  cut({ agenda, node, lastsMs }) {
    node.isCut = true;
    agenda.after(lastsMs, () => {
      node.isCut = false;
    });
    return `${node.name} is cut off from its server`;
  },
  cutServer({ agenda, servers, random, lastsMs }) {
    servers.heal();
    const server = random.below(SERVERS);
    servers.cutOff(server);
    agenda.after(lastsMs, () => servers.heal());
    return `server ${server + 1} is cut off from the others`;
  },
  badNetwork({ agenda, servers, random, lastsMs }) {
    const loss = random.between(0, 0.4);
    const lateMs = random.between(5, 600);
    servers.weather = { loss, duplicate: 0.1, late: 0.3, lateMs };
    agenda.after(lastsMs, () => {
      servers.weather = { ...FAIR };
    });
    return `the network loses ${Math.round(100 * loss)} % of all messages, repeats some, and delays some by up to ${Math.round(lateMs)} ms`;
  },
  slowWrites({ agenda, servers, random, lastsMs }) {
    const ms = random.between(100, 2_500);
    servers.slowWrites = { chance: 0.5, ms };
    agenda.after(lastsMs, () => {
      servers.slowWrites = { chance: 0, ms: 0 };
    });
    return `writes take up to ${Math.round(ms)} ms`;
  },
  misplacedWrites({ agenda, servers, lastsMs }) {
    servers.misplacedWrites = 0.3;
    agenda.after(lastsMs, () => {
      servers.misplacedWrites = 0;
    });
    return 'the servers confirm writes at the place of an older record, and do not store them';
  },
  staleServer({ servers, random }) {
    const server = random.below(SERVERS);
    const count = 1 + random.below(8);
    servers.forget(server, count);
    return `server ${server + 1} forgets ${count} records, which the other servers have`;
  },
  foreignRecord({ servers, random }) {
    const { end, log } = servers;
    const copied = log.length === 0 ? undefined : random.pick(log);
    const message = random.pick([
      { id: 'x', bytes: new Uint8Array(3), name: 'an answer of a server' },
      copied === undefined
        ? {
            ...chainedRecord({ epoch: 1, sequence: 9, after: '', entries: [] }),
            name: 'a record of another log',
          }
        : { ...copied, name: `record ${copied.sequence} again` },
      { id: 'f'.repeat(64), bytes: copied?.bytes ?? new Uint8Array(9), name: 'a record under another ID' },
    ]);
    servers.storeForeign(message);
    return `${message.name} is stored as record ${end.sequence + 1} of the log`;
  },
  lostTail({ servers, random }) {
    const count = 1 + random.below(4);
    servers.loseTail(count);
    return `the servers lose ${count} records and end with ${servers.end.sequence}`;
  },
  powerCut({ agenda, servers, nodes, random, lastsMs }) {
    const count = random.below(6);
    servers.loseTail(count);
    for (const node of nodes) {
      if (random.chance(0.2)) continue;
      node.kill();
      if (random.chance(0.3)) node.forget(false);
      agenda.after(lastsMs * random.next(), () => node.start());
    }
    return `the power fails, and the servers lose ${count} records and end with ${servers.end.sequence}`;
  },
  forgetfulFolder({ agenda, node, random, lastsMs }) {
    const everything = random.chance(0.5);
    node.kill();
    node.forget(everything);
    agenda.after(lastsMs, () => node.start());
    return `${node.name} is killed, and its folder ${everything ? 'is empty' : 'has an older state'}`;
  },
  damagedBlock({ agenda, servers, node, random, lastsMs }) {
    const { end, firstSequence } = servers;
    const first = Math.max(firstSequence, end.sequence - random.below(30));
    const last = Math.min(end.sequence, first + random.below(15));
    const kind = random.chance(0.5) ? 'flipped' : 'missing';
    for (let sequence = first; sequence <= last; sequence++) servers.damage(0, sequence, kind);
    // Only a node that reads the records again notices the damage.
    node.kill();
    node.forget(true);
    agenda.after(lastsMs, () => node.start());
    return `server 1 ${kind === 'flipped' ? 'flips a bit of each of' : 'no longer has'} the records ${first} to ${last}, and ${node.name} is killed and its folder is empty`;
  },
} satisfies Record<string, Fault>;

export type FaultKind = keyof typeof ALL;

export const FAULTS: Readonly<Record<FaultKind, Fault>> = ALL;

/** The faults of servers that lose or damage records. */
export const DATA_FAULTS: readonly FaultKind[] = ['lostTail', 'powerCut', 'damagedBlock'];

/** The faults that only some tests add to a schedule. A further fault in the other lists would change the schedule of every seed. */
const ADDED_FAULTS: readonly FaultKind[] = ['misplacedWrites'];

/** The faults that lose no records of the log. */
export const SERVICE_FAULTS: readonly FaultKind[] = (Object.keys(ALL) as FaultKind[]).filter(
  (kind) => !DATA_FAULTS.includes(kind) && !ADDED_FAULTS.includes(kind),
);
