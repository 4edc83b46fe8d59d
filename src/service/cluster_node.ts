import { randomBytes } from 'node:crypto';
import type { PublisherSession, PublishOutcome } from '../aggregator/publisher_session.js';
import { ClockWatch, clockTrouble, secondsOf } from '../clock/clock_watch.js';
import type { Bus } from '../cluster/bus.js';
import type { LogServers } from '../cluster/log/log_servers.js';
import type { SharedCandles } from '../cluster/log/shared_candles.js';
import { ClusterMember } from '../cluster/member.js';
import type { MemberHost, MemberOptions } from '../cluster/member_options.js';
import { Forwarder } from '../cluster/publishers/forwarder.js';
import { IdMapping } from '../cluster/ticks/id_mapping.js';
import type { ReadMessage } from '../ingest/message.js';
import type { Catalogue } from '../model/catalogue.js';
import type { NodeList } from '../model/node_list.js';
import { earlierOf, laterByMs, NS_PER_SECOND, secondOf, type TimeNs } from '../model/time.js';
import { CandleExchange } from '../node/candle_exchange.js';
import { firstMinuteOf } from '../node/first_minute.js';
import { LogApplier, placeToReadFrom } from '../node/log_applier.js';
import { NodeDirectory } from '../node/node_directory.js';
import { withdrawOld } from '../node/old_aggregates.js';
import { ServerWatch } from '../node/server_watch.js';
import { CallerRights, callerNameOf } from '../server/access/caller_rights.js';
import { LeaderTerm } from './leader_term.js';
import type { PriceMaker } from './price_maker.js';
import { type Settings, signersOf } from './settings.js';
import type { PriceMakerOptions } from './solo.js';

export interface ClusterNodeOptions
  extends PriceMakerOptions,
    Pick<MemberOptions, 'node' | 'name' | 'role' | 'timing'> {
  readonly bus: Bus & LogServers & { readonly candles: SharedCandles };
  /** Of what must be equal on all nodes. */
  readonly configHash: (settings: Settings) => Uint8Array;
  /** Called when the nodes that {@link PriceMaker.nodes} says, or their keys, are others than before. */
  readonly onNodes: (nodes: NodeList) => void;
  /** Called when the store got candles in another way than by the feed. */
  readonly onStoreChanged: () => void;
}

/** An edge shows prices of a silent leader for a while; it is not ready after this. */
const SILENCE_MS_MAX = 2_000;
/** How often it is looked for aggregates that are too old, and for changes of the nodes. */
const LOOK_NS = NS_PER_SECOND / 4n;
/** How often it is looked for days that were sealed. */
const DAYS_NS = 10n * NS_PER_SECOND;
const nowMs = () => performance.now();

/**
 * One node of a cluster: it has its prices from the leader and its records from the log that all nodes share, and makes prices itself
 * while it leads.
 */
export async function openClusterNode(options: ClusterNodeOptions): Promise<PriceMaker> {
  const { bus, clock, store, source, logger, node, name, onNodes } = options;
  let { settings } = options;
  let leading: LeaderTerm | undefined;
  let fatal: string | undefined;
  let lookNs = 0n;
  let nodesText = '';
  const startedS = Number(secondOf(clock.nowNs()));
  /** What the other nodes are told of a configuration: to compute it takes hashes and curve arithmetic, so that is done once. */
  const factsOf = (from: Settings) => ({
    taxonomy: new IdMapping(from.catalogue.listed),
    configHash: options.configHash(from),
    signers: signersOf(from, startedS),
  });
  let facts = factsOf(settings);
  const signers = () => facts.signers;
  const servers = new ServerWatch({ servers: bus, clock, leads: () => leading !== undefined });
  const clockWatch = new ClockWatch({ clock, troubles: [clockTrouble(clock), servers.trouble], logger });
  const keeper = new CandleExchange({
    shelf: bus.candles,
    store,
    assets: () => settings.catalogue.listed,
    logger,
  });
  let daysNs = 0n;
  const keepsInputs = options.role === 'aggregator';
  const applied = placeToReadFrom(store.log, keepsInputs);
  /** The log no longer has what follows the last record of the store, whose candles are there already. */
  const { firstSequence: first } = await bus.extent();
  let hasCandles = first > applied.sequence + 1;
  let readsAnew = hasCandles || store.log.position === undefined;
  if (readsAnew) await keeper.fetch(await firstMinuteOf(bus, first, clock));

  const records = new LogApplier({
    store,
    source,
    catalogue: () => settings.catalogue,
    keepsInputs,
    onMinuteClosed: (asset, minute) => keeper.closed(asset, minute),
    onStoreChanged: options.onStoreChanged,
  });
  const rights = new CallerRights(settings.config);
  const run = randomBytes(8).toString('hex');
  const forwarder = new Forwarder({
    bus,
    run,
    // What waits here when this node begins to lead goes the same way.
    epoch: () => member.ledEpoch,
    nameOf: callerNameOf,
    nowMs,
  });

  const host: MemberHost = {
    lead(term) {
      logger.info({ epoch: term.epoch }, 'this node leads');
      // Only a node that has applied everything wins a claim.
      records.serve();
      leading = new LeaderTerm(
        options,
        term,
        () => settings,
        records.newestNs,
        (caller) => rights.of(caller),
        servers.trouble,
      );
      // The epoch is the place of its claim in the log.
      keeper.lead(term.epoch === 1);
    },
    stepDown(reason) {
      logger.info({ reason }, 'this node leads no more');
      leading?.stepDown();
      leading = undefined;
      keeper.stepDown();
    },
    healthy: () => fatal === undefined && store.health().ok,
    clockIsRight: () => servers.isClockRight,
    apply(batch, position) {
      records.apply(batch, position);
      // Who leads is another one: what that changes is due at once.
      if (batch.claim !== undefined) options.onDue(clock.nowNs());
    },
    caughtUp: () => records.caughtUp(),
    missing(firstSequence) {
      logger.warn({ firstSequence }, 'the log was deleted up to here before this node had read it');
      if (hasCandles) hasCandles = false;
      else void fetchCandles(firstSequence);
    },
    prices: {
      priced({ symbol, signatureType }, price) {
        const asset = settings.catalogue.findAsset(symbol, signatureType);
        if (asset !== undefined) source.priced({ asset, price });
      },
      ended(name) {
        const asset = settings.catalogue.placedAsset(name);
        if (asset !== undefined) source.ended({ asset, atNs: clock.nowNs() });
      },
    },
    fatal(reason) {
      fatal = reason;
      logger.fatal(reason);
    },
  };
  const member = new ClusterMember({
    ...options,
    host,
    run,
    configHash: () => facts.configHash,
    signers,
    taxonomy: () => facts.taxonomy,
    applied,
    nowMs,
    defer: setImmediate,
  });
  const directory = new NodeDirectory({ node, name, signers, member, nowMs });
  // The process that handed the folder over wrote all that it had shown.
  if (store.isHandedOver) records.serve();

  /** @param own what this node says of it while it leads; the log may have it also when the term ended before that */
  async function orForward(
    own: Promise<PublishOutcome | undefined>,
    session: PublisherSession,
    message: ReadMessage,
  ): Promise<PublishOutcome> {
    return (await own) ?? forwarder.receive(session, { ...message, again: true });
  }

  async function fetchCandles(firstSequence: number): Promise<void> {
    try {
      await keeper.fetch(await firstMinuteOf(bus, firstSequence, clock));
      readsAnew = true;
    } catch (error) {
      logger.error({ err: error }, 'candles of the time that is missing could not be read');
    }
  }

  /** Assets that are gone lose their price, and new ones get that of the leader. */
  function followReload(before: Catalogue, next: Catalogue): void {
    for (const asset of before.listed)
      if (!next.isListed(asset)) source.ended({ asset, atNs: clock.nowNs() });
    member.reloaded();
  }

  /** For how long no tick came, where this node does not lead. */
  function silentMs(): number {
    return member.role === 'leader' ? 0 : nowMs() - member.ticks.tickMs;
  }

  function look(nowNs: TimeNs): void {
    lookNs = nowNs + LOOK_NS;
    if (readsAnew && member.isReady) {
      readsAnew = false;
      options.onStoreChanged();
    }
    if (nowNs >= daysNs) {
      daysNs = nowNs + DAYS_NS;
      keeper.putDays();
    }
    const nodes = directory.nodes();
    const text = JSON.stringify(nodes);
    if (text !== nodesText) {
      nodesText = text;
      onNodes(nodes);
    }
    const isSilent = leading === undefined && silentMs() > SILENCE_MS_MAX;
    if (isSilent || member.isReady) withdrawOld(source, nowNs, isSilent);
  }

  return {
    receiver: {
      receive(session, message) {
        if (leading === undefined || forwarder.isWaiting(session)) return forwarder.receive(session, message);
        const outcome = leading.receive(session, message);
        return outcome instanceof Promise ? orForward(outcome, session, message) : outcome;
      },
      closed: (session) => forwarder.closed(session),
    },
    get updatesWaiting() {
      return leading?.aggregator.updatesWaiting ?? 0;
    },
    activity: () => leading?.aggregator.activity() ?? { assets: [], publishers: [] },
    get aggregatesAheadSeconds() {
      return leading === undefined ? 0 : secondsOf(leading.times.aheadNs);
    },
    nodes: () => directory.nodes(),
    cluster() {
      const { log, ticks } = member;
      const all = directory.nodes().nodes;
      return {
        role: member.role,
        epoch: member.epoch,
        logLagRecords: log.lag,
        logLagSeconds: log.lag === 0 ? 0 : (nowMs() - log.appliedMs) / 1000,
        ticksSilentSeconds: silentMs() / 1000,
        tickGaps: ticks.gaps,
        refusedWrites: member.refusedWrites,
        standbys: all.filter(({ role }) => role === 'standby').length,
        nodes: all.length,
        logCopies: servers.logCopies,
      };
    },
    troubles() {
      if (fatal !== undefined) return [fatal];
      const { leader } = member;
      const isOther = leader !== undefined && !Buffer.from(leader.configHash).equals(facts.configHash);
      return [
        ...(member.isReady ? [] : ['the log and the prices of the leader are still being read']),
        ...(silentMs() > SILENCE_MS_MAX
          ? [`no prices of a leader for ${Math.floor(silentMs() / 1000)} s`]
          : []),
        ...(isOther ? ["the configuration differs from the leader's"] : []),
        ...(member.nodes.hasTwin ? [`another process is node ${node} too`] : []),
      ];
    },
    clockTroubles: () => (leading?.clockWatch ?? clockWatch).reasons(),
    nextDueNs(nowNs) {
      const leftMs = Math.min(member.nextDueMs(), forwarder.nextDueMs()) - nowMs();
      return earlierOf(laterByMs(nowNs, leftMs), leading?.aggregator.nextDueNs(nowNs));
    },
    tick(nowNs) {
      member.tick();
      forwarder.tick(nowMs());
      if (options.role === 'aggregator') servers.tick(nowMs());
      if (leading === undefined) clockWatch.tick(nowNs);
      else leading.tick(nowNs);
      if (nowNs >= lookNs) look(nowNs);
    },
    start: () => member.start(),
    reload(next) {
      const before = settings.catalogue;
      settings = next;
      facts = factsOf(next);
      rights.reload(next.config);
      leading?.reload(next);
      if (leading === undefined) followReload(before, next.catalogue);
    },
    leave: () => member.resign(),
    async close() {
      await member.resign();
      member.stop();
      await bus.close();
    },
  };
}
