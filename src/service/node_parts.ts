import type { LogFault } from '../cluster/log/log_follower_options.js';
import { LogApplier, type LogApplierOptions } from '../cluster/node/log_applier.js';
import { LogQuestions } from '../cluster/node/log_questions.js';
import { ServerWatch } from '../cluster/node/server_watch.js';
import type { NodePresence } from '../cluster/node_presence.js';
import { InputVerifier } from '../prices/input_verifier.js';
import { publicFolderOf } from '../publiclog/ledger/ledger_folder.js';
import { LedgerReader } from '../publiclog/ledger/ledger_reader.js';
import type { ClusterNodeOptions } from './cluster_node_options.js';
import { durableRefusal } from './node_status.js';

/** The log messages for faults of the log. */
export const LOG_FAULTS: Readonly<Record<LogFault, string>> = {
  'skipped record': 'a record of the log has no effect',
  'damaged copy': 'a NATS server has a damaged copy of the log; the others are asked',
};

/** Creates the part of a node that requests the state of the servers. */
export function watchServers({ bus, parts, member, durable }: ClusterNodeOptions): ServerWatch {
  const { clock, logger } = parts;
  return new ServerWatch({
    servers: bus,
    clock,
    onGoneStreams: (reasons) => {
      for (const reason of reasons) logger.error(reason);
      if (reasons.length === 0) logger.info('the NATS servers have all streams of the cluster again');
    },
    onForgetful: (doubt) => {
      if (doubt === undefined) logger.info('acknowledged records are on disk');
      else logger.warn(durableRefusal(doubt));
    },
    asksDisks: member.role === 'aggregator' && durable === 'disk',
  });
}

/** Creates the part of a node that stores and serves the records of the log. */
export function applyRecords(
  options: ClusterNodeOptions,
  { catalogue, onMinuteClosed }: Pick<LogApplierOptions, 'catalogue' | 'onMinuteClosed'>,
): LogApplier {
  const { parts, hooks, member, verifyRecords } = options;
  const { store, publicLog, source, pool, logger } = parts;
  return new LogApplier({
    store,
    publicLog,
    source,
    catalogue,
    keepsInputs: member.role === 'aggregator',
    verifier: verifyRecords ? new InputVerifier(pool.here, catalogue) : undefined,
    onUnauthentic: (reason) => logger.error({ reason }, LOG_FAULTS['skipped record']),
    onMinuteClosed,
    onStoreChanged: hooks.onStoreChanged,
  });
}

/** Lets a node's public log request missing parts from the aggregators and answer the other nodes. */
export function joinPublicLog(
  { bus, parts, settings, member }: ClusterNodeOptions,
  nodes: Pick<NodePresence, 'present'>,
): void {
  const { publicLog, clock } = parts;
  if (publicLog === undefined) return;
  const questions = new LogQuestions({
    bus,
    node: member.node,
    aggregators: () => nodes.present().flatMap(({ node, role }) => (role === 'edge' ? [] : [node])),
    nowNs: () => clock.nowNs(),
  });
  publicLog.joinOthers(questions);
  if (member.role === 'edge') return;
  const reader = new LedgerReader(publicFolderOf(settings.config.storage.dir));
  questions.answer({ publicPart: (...part) => reader.publicPart(...part), facts: () => publicLog.facts });
}
