import type { ClusterMember } from '../cluster/member.js';
import type { LogApplier } from '../cluster/node/log_applier.js';
import type { NodeDirectory } from '../cluster/node/node_directory.js';
import type { ServerWatch } from '../cluster/node/server_watch.js';
import type { ClusterState } from './metrics/state.js';

/** Returns the answer to a message of a durable session. @param doubt the reason why the message may not be on disk */
export function durableRefusal(doubt: string): string {
  return `ack=durable is refused: ${doubt}`;
}

export interface NodeStatusOptions {
  readonly node: number;
  readonly member: Pick<
    ClusterMember,
    | 'role'
    | 'epoch'
    | 'ledEpoch'
    | 'log'
    | 'ticks'
    | 'refusedWrites'
    | 'refusedMessages'
    | 'leader'
    | 'isReady'
    | 'nodes'
  >;
  readonly directory: Pick<NodeDirectory, 'nodes' | 'hasKeysOf' | 'idsRefusal'>;
  readonly records: Pick<LogApplier, 'unauthenticCount'>;
  readonly servers: Pick<
    ServerWatch,
    'logCopies' | 'goneStreams' | 'leaderless' | 'forgetful' | 'forgetfulServers'
  >;
  /** Returns the hash of the settings that must be equal on all nodes. */
  readonly configHash: () => Uint8Array;
  readonly nowMs: () => number;
}

/** The silence of the leader after which an edge is not ready. The edge still shows the leader's prices for some time. */
const SILENCE_MS_MAX = 2_000;

/** The state of a cluster node, for its operator. */
export class NodeStatus {
  readonly #options: NodeStatusOptions;

  constructor(options: NodeStatusOptions) {
    this.#options = options;
  }

  /** True when another node leads and has sent no prices for a while. */
  get isSilent(): boolean {
    return this.#silentMs() > SILENCE_MS_MAX;
  }

  cluster(): ClusterState {
    const { member, directory, servers, records, nowMs } = this.#options;
    const { log, ticks, role, epoch, refusedWrites, refusedMessages } = member;
    const { nodes } = directory.nodes();
    return {
      role,
      epoch,
      logLagRecords: log.lag,
      logLagSeconds: log.lag === 0 ? 0 : (nowMs() - log.appliedMs) / 1000,
      ticksSilentSeconds: this.#silentMs() / 1000,
      tickGaps: ticks.gaps,
      refusedWrites,
      refusedMessages,
      skippedRecords: log.skippedCount + records.unauthenticCount,
      standbys: nodes.filter((one) => one.role === 'standby').length,
      nodes: nodes.length,
      logCopies: servers.logCopies,
      forgetfulServers: servers.forgetfulServers,
    };
  }

  /** Returns the reasons why the node is not ready. */
  troubles(): string[] {
    const { node, member, directory, servers, configHash } = this.#options;
    const { leader } = member;
    const isUnheard =
      member.role !== 'leader' &&
      member.ledEpoch !== undefined &&
      (leader === undefined || !directory.hasKeysOf(leader.node));
    const isOther =
      leader !== undefined &&
      member.role !== 'leader' &&
      !Buffer.from(leader.configHash).equals(configHash());
    return [
      ...servers.goneStreams,
      ...(servers.leaderless === undefined ? [] : [servers.leaderless]),
      ...(member.isReady ? [] : ['the log and the prices of the leader are still being read']),
      ...(directory.idsRefusal === undefined ? [] : [directory.idsRefusal]),
      ...(isUnheard ? ['the keys of the leader are not known yet'] : []),
      ...(this.isSilent ? [`no prices of a leader for ${Math.floor(this.#silentMs() / 1000)} s`] : []),
      ...(isOther ? ["the configuration differs from the leader's"] : []),
      ...(servers.forgetful === undefined ? [] : [durableRefusal(servers.forgetful)]),
      ...(member.nodes.hasTwin ? [`another process is node ${node} too`] : []),
    ];
  }

  /** Returns the time since the last tick; 0 if this node leads. */
  #silentMs(): number {
    const { member, nowMs } = this.#options;
    return member.role === 'leader' ? 0 : nowMs() - member.ticks.tickMs;
  }
}
