import { InputVerifier } from '../aggregator/input_verifier.js';
import { LogApplier, type LogApplierOptions } from '../node/log_applier.js';
import { ServerWatch } from '../node/server_watch.js';
import type { ClusterNodeOptions } from './cluster_node_options.js';
import { durableRefusal } from './node_status.js';

/** The text of the line in the service's log about a record without effect. */
export const UNAUTHENTIC = 'a record of the log has no effect';

/** Opens the part of a node that queries the state of the servers. */
export function watchServers(options: ClusterNodeOptions, leads: () => boolean): ServerWatch {
  const { bus, parts, member, durable } = options;
  const { clock, logger } = parts;
  return new ServerWatch({
    servers: bus,
    clock,
    leads,
    onLogGone: (reason) => logger.error(reason ?? 'the NATS servers have the log again'),
    onForgetful: (doubt) => logger.warn(doubt ? durableRefusal(doubt) : 'acknowledged records are on disk'),
    asksDisks: member.role === 'aggregator' && durable === 'disk',
  });
}

/** Opens the part of a node that stores and serves the records of the log. */
export function applyRecords(
  options: ClusterNodeOptions,
  { catalogue, onMinuteClosed }: Pick<LogApplierOptions, 'catalogue' | 'onMinuteClosed'>,
): LogApplier {
  const { parts, hooks, member, verifyRecords } = options;
  const { store, past, publicLog, source, pool, logger } = parts;
  return new LogApplier({
    store,
    past,
    publicLog,
    source,
    catalogue,
    keepsInputs: member.role === 'aggregator',
    verifier: verifyRecords ? new InputVerifier(pool.here, catalogue) : undefined,
    onUnauthentic: (reason) => logger.error({ reason }, UNAUTHENTIC),
    onMinuteClosed,
    onStoreChanged: hooks.onStoreChanged,
  });
}
