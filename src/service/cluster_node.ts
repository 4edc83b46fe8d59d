import { randomBytes } from 'node:crypto';
import { startOfTerm } from '../clock/aggregate_times.js';
import { ClockWatch, clockTrouble, secondsOf } from '../clock/clock_watch.js';
import type { LogPosition } from '../cluster/bus.js';
import type { Term } from '../cluster/leading/term.js';
import { ClusterMember } from '../cluster/member.js';
import type { MemberHost } from '../cluster/member_options.js';
import { LeaderPrices } from '../cluster/node/leader_prices.js';
import { type LogApplier, placeToReadFrom } from '../cluster/node/log_applier.js';
import { NodeCandles } from '../cluster/node/node_candles.js';
import { NodeDirectory } from '../cluster/node/node_directory.js';
import { withdrawOld } from '../cluster/node/old_aggregates.js';
import type { ServerWatch } from '../cluster/node/server_watch.js';
import { Forwarder } from '../cluster/publishers/forwarder.js';
import type { NodeList } from '../model/node_list.js';
import { earlierOf, laterByMs, NS_PER_SECOND, secondOf, type TimeNs } from '../model/time.js';
import type { Activity } from '../prices/activity.js';
import type { ReadMessage } from '../prices/message.js';
import type { PublisherSession, PublishOutcome } from '../prices/publisher_session.js';
import { CallerRights, callerNameOf } from '../server/access/caller_rights.js';
import type { ClusterNodeOptions } from './cluster_node_options.js';
import { mayLead, refuseIds } from './known_ids.js';
import { LeaderTerm } from './leader_term.js';
import type { ClusterState, PublicLogState } from './metrics/state.js';
import { NodeFacts } from './node_facts.js';
import { applyRecords, joinPublicLog, LOG_FAULTS, watchServers } from './node_parts.js';
import { NodeStatus } from './node_status.js';
import { OwnSigners } from './own_signers.js';
import { exchangePast, type PastExchange } from './past_exchange.js';
import type { PriceMaker } from './price_maker.js';
import { publicLogState } from './public_log_state.js';
import type { Settings } from './settings.js';

/** The interval of checks for old aggregates and for changed nodes. */
const CHECK_NS = NS_PER_SECOND / 4n;
const NO_ACTIVITY: Activity = { assets: [], publishers: [] };
const nowMs = () => performance.now();

/** Opens a node of a cluster, and reads the candles that its store lacks. @throws Error when no server answers */
export async function openClusterNode(options: ClusterNodeOptions): Promise<PriceMaker> {
  const { bus, parts, settings, member } = options;
  const { store, logger } = parts;
  const applied = placeToReadFrom(store.log, member.role === 'aggregator');
  const assets = settings.catalogue.listed;
  const candles = await NodeCandles.open({ bus, store, logger, assets }, applied.sequence);
  return new ClusterNode(options, applied, candles);
}

/**
 * A node of a cluster. Its prices come from the leader, and its records from the log that all nodes share. While this node leads, it makes
 * the prices.
 */
class ClusterNode implements PriceMaker {
  readonly #options: ClusterNodeOptions;
  readonly #candles: NodeCandles;
  readonly #signers: OwnSigners;
  #settings: Settings;
  #facts: NodeFacts;
  readonly #rights: CallerRights;
  readonly #servers: ServerWatch;
  readonly #clockWatch: ClockWatch;
  readonly #records: LogApplier;
  readonly #leaderPrices: LeaderPrices;
  readonly #member: ClusterMember;
  readonly #forwarder: Forwarder;
  readonly pastExchange: PastExchange;
  readonly #directory: NodeDirectory;
  readonly #status: NodeStatus;
  /** The term, while this node leads; otherwise `undefined`. */
  #term: LeaderTerm | undefined;
  #fatal: string | undefined;
  #nextCheckNs = 0n;

  /** @param applied the last log record in the store */
  constructor(options: ClusterNodeOptions, applied: LogPosition, candles: NodeCandles) {
    const { bus, settings, parts, member } = options;
    const { clock, store, source, logger } = parts;
    const { node, name, role, timing } = member;
    const signers = () => this.#signers.list;
    const configHash = () => this.#facts.configHash;
    const run = randomBytes(8).toString('hex');
    this.#options = options;
    this.#candles = candles;
    this.#signers = new OwnSigners(settings, Number(secondOf(clock.nowNs())));
    this.#settings = settings;
    this.#facts = new NodeFacts(settings);
    this.#rights = new CallerRights(settings.config);
    this.#servers = watchServers(options);
    clock.heed?.(this.#servers.confirmsJump);
    const troubles = [clockTrouble(clock), this.#servers.trouble];
    this.#clockWatch = new ClockWatch({ clock, troubles, logger });
    const catalogue = () => this.#settings.catalogue;
    this.#leaderPrices = new LeaderPrices(source, clock, catalogue);
    this.#records = applyRecords(options, {
      catalogue,
      onMinuteClosed: (asset, minute) => candles.exchange.closed(asset, minute),
    });
    this.#member = new ClusterMember({
      bus,
      host: this.#host(),
      node,
      name,
      role,
      timing,
      run,
      configHash,
      signers,
      streamLog: () => parts.streamLog?.facts,
      taxonomy: () => this.#facts.taxonomy,
      refuseIds: (leader) => refuseIds(options.ids, leader, this.#settings.config),
      applied,
      nowMs,
      defer: setImmediate,
    });
    const secret = randomBytes(16).toString('hex');
    // Messages that are already waiting when this node begins to lead take the same path.
    const epoch = () => this.#member.ledEpoch;
    this.#forwarder = new Forwarder({ bus, node, secret, epoch, nameOf: callerNameOf, nowMs });
    this.#directory = new NodeDirectory({ node, name, signers, member: this.#member, logs: parts, nowMs });
    joinPublicLog(options, this.#member.nodes);
    this.pastExchange = exchangePast(options, () => this.#directory.nodes(), catalogue);
    this.#status = new NodeStatus({
      node,
      records: this.#records,
      member: this.#member,
      directory: this.#directory,
      servers: this.#servers,
      configHash,
      nowMs,
    });
    // The process that handed over the folder has written everything that its readers saw.
    if (store.isHandedOver) this.#records.serve();
  }

  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome> {
    if (this.#term === undefined || this.#forwarder.isWaiting(session))
      return this.#forwarder.receive(session, message);
    const outcome = this.#term.receive(session, message);
    return outcome instanceof Promise ? this.#orForward(outcome, session, message) : outcome;
  }

  closed(session: PublisherSession): void {
    this.#forwarder.closed(session);
  }

  get updatesWaiting(): number {
    return this.#term?.maker.aggregator.updatesWaiting ?? 0;
  }

  activity(): Activity {
    return this.#term?.maker.aggregator.activity() ?? NO_ACTIVITY;
  }

  get aggregatesAheadSeconds(): number {
    return this.#term === undefined ? 0 : secondsOf(this.#term.maker.times.aheadNs);
  }

  nodes(): NodeList {
    return this.#directory.nodes();
  }

  cluster(): ClusterState {
    return this.#status.cluster();
  }

  publicLog(): PublicLogState | undefined {
    return publicLogState(this.#options.parts.publicLog);
  }

  troubles(): readonly string[] {
    if (this.#fatal !== undefined) return [this.#fatal];
    return [...this.#status.troubles(), ...(this.#options.parts.publicLog?.troubles() ?? [])];
  }

  clockTroubles(): readonly string[] {
    return (this.#term?.maker.clockWatch ?? this.#clockWatch).reasons();
  }

  nextDueNs(nowNs: TimeNs): bigint | undefined {
    const leftMs = Math.min(this.#member.nextDueMs(), this.#forwarder.nextDueMs()) - nowMs();
    return earlierOf(laterByMs(nowNs, leftMs), this.#term?.maker.aggregator.nextDueNs(nowNs));
  }

  tick(nowNs: TimeNs): void {
    this.#member.tick();
    this.#forwarder.tick(nowMs());
    this.#servers.tick(nowMs());
    if (this.#term === undefined) this.#clockWatch.tick(nowNs);
    else this.#term.tick(nowNs);
    this.#options.parts.publicLog?.tick();
    if (nowNs >= this.#nextCheckNs) this.#checkParts(nowNs);
  }

  start(): void {
    this.#member.start();
  }

  reload(next: Settings): void {
    const before = this.#settings.catalogue;
    this.#settings = next;
    this.#facts = new NodeFacts(next);
    this.#signers.reload(next, Number(secondOf(this.#options.parts.clock.nowNs())));
    this.#rights.reload(next.config);
    this.#candles.reload(next.catalogue.listed);
    if (this.#term !== undefined) this.#term.maker.aggregator.reload(next.catalogue);
    // Removed assets lose their price, and new assets receive the leader's price.
    else this.#leaderPrices.endRemoved(before);
    this.#member.reloaded();
  }

  leave(): Promise<void> {
    return this.#member.resign();
  }

  async close(): Promise<void> {
    await this.#member.resign();
    this.#member.stop();
    await this.pastExchange.close();
    await this.#options.bus.close();
  }

  #host(): MemberHost {
    const { parts, hooks } = this.#options;
    const { clock, store, logger } = parts;
    return {
      lead: (term) => this.#lead(term),
      stepDown: (reason) => {
        logger.info({ reason }, 'this node leads no more');
        this.#term?.stepDown();
        this.#term = undefined;
        this.#candles.exchange.stepDown();
      },
      healthy: () => this.#fatal === undefined && store.health().ok && mayLead(this.#member.ticks),
      clockIsRight: () => this.#servers.isClockRight,
      apply: (batch, position) => {
        this.#records.apply(batch, position);
        // Another node now leads. Its ticks need this change immediately.
        if (batch.claim !== undefined) hooks.onDue(clock.nowNs());
      },
      caughtUp: () => this.#records.caughtUp(),
      missing: (firstSequence) => {
        this.#records.missing();
        void this.#candles.missing(firstSequence);
      },
      faulty: (fault, reason) => logger.error({ reason }, LOG_FAULTS[fault]),
      restored: (records) =>
        logger.warn({ records }, 'the log had lost records, which this node appended again'),
      prices: this.#leaderPrices,
      fatal: (reason) => {
        this.#fatal = reason;
        logger.fatal(reason);
      },
    };
  }

  #lead(term: Term): void {
    const { parts, hooks, bus } = this.#options;
    parts.logger.info({ epoch: term.epoch }, 'this node leads');
    // This node has applied all earlier records, because otherwise its claim could not win.
    this.#records.serve();
    this.#term = new LeaderTerm({
      parts,
      hooks,
      bus,
      term,
      settings: () => this.#settings,
      startAfterNs: startOfTerm(this.#records.newestNs, Math.random()),
      latestNs: () => this.#servers.latestNs(),
      durable: this.#options.durable,
      forgetful: () => this.#servers.forgetful,
      rightsOf: (caller) => this.#rights.of(caller),
      troubles: [this.#servers.trouble],
    });
    // The epoch is the claim's sequence in the log.
    this.#candles.exchange.lead(term.epoch === 1);
  }

  /**
   * Waits for this node's outcome. Without an outcome, the term has ended, and the message is forwarded; the log may already contain it.
   */
  async #orForward(
    own: Promise<PublishOutcome | undefined>,
    session: PublisherSession,
    message: ReadMessage,
  ): Promise<PublishOutcome> {
    return (await own) ?? this.#forwarder.receive(session, { ...message, again: true });
  }

  #checkParts(nowNs: TimeNs): void {
    const { parts, hooks } = this.#options;
    const { isReady } = this.#member;
    this.#nextCheckNs = nowNs + CHECK_NS;
    if (isReady && this.#candles.takeChanged()) hooks.onStoreChanged();
    this.#candles.tick(nowNs);
    const nodes = this.#directory.takeChanged();
    if (nodes !== undefined) hooks.onNodes(nodes);
    const isSilent = this.#term === undefined && this.#status.isSilent;
    if (isSilent || isReady) withdrawOld(parts.source, nowNs, isSilent);
  }
}
