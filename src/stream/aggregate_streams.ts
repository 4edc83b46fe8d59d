import type { Asset, SignatureType } from '../model/asset.js';
import type { SignedAggregate } from '../model/signed_price.js';
import type { Clock, TimeNs } from '../model/time.js';
import { ORACLE_PRICES_TYPE, SUBSCRIPTIONS_TYPE } from '../wire/aggregates.js';
import { type AggregateGroup, AggregateGroupIndex, type AggregateSession } from './aggregate_group.js';
import {
  type AggregateRequestError,
  type AggregateSubscription,
  aggregateErrorText,
  readAggregateRequest,
} from './aggregate_request.js';
import type { StreamCounters } from './engine.js';
import { type StreamLimits, Subscriptions } from './subscriptions.js';

export interface AggregateStreamsOptions {
  /** Returns the asset with this symbol and signature type in the present configuration. */
  readonly findAsset: (symbol: string, type: SignatureType) => Asset | undefined;
  /** Returns the latest aggregate; `undefined` while the asset has no live price. */
  readonly latest: (asset: Asset) => SignedAggregate | undefined;
  /** Returns the aggregate in the form of REST. Each text is made once. */
  readonly json: (aggregate: SignedAggregate) => string;
  readonly clock: Clock;
  /**
   * Publishes a frame as for `/ws`, but with separate sequences. Connections that do not take the frame go to {@link
   * AggregateStreams.lagged}.
   */
  readonly publish: (topic: number, frame: Uint8Array, sequence: number) => void;
  /** Returns a topic on which no other group publishes. */
  readonly newTopic: () => number;
  /** Calls back after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
  readonly limits: StreamLimits;
  readonly counters: StreamCounters;
}

/**
 * Streams of signed aggregates, without their sockets. A connection receives the aggregates of its assets when it subscribes, and
 * each further aggregate when it is signed.
 *
 * All aggregates that are signed in a turn of the event loop are in the same frame of a group. This frame is made and published
 * once. A new connection or a slow reader waits outside the topic. Such a connection receives its own frames until it has
 * everything, and then joins the topic.
 */
export class AggregateStreams extends Subscriptions<
  AggregateSession,
  AggregateGroup,
  AggregateSubscription,
  AggregateRequestError
> {
  readonly #options: AggregateStreamsOptions;
  readonly #groups: AggregateGroupIndex;
  /** The number of signatures so far. `#signedAt` has, by asset index, the number of the last signature. */
  #sequence = 0;
  readonly #signedAt: number[] = [];
  /** The groups of which an aggregate was signed since their last frame. */
  #dirty: AggregateGroup[] = [];
  #frames = 0;

  constructor(options: AggregateStreamsOptions) {
    const groups = new AggregateGroupIndex(options.newTopic);
    super(options, groups, { read: readAggregateRequest, errorText: aggregateErrorText });
    this.#groups = groups;
    this.#options = options;
  }

  /** Records that the asset has a new latest aggregate. */
  signed({ index }: Asset): void {
    this.#signedAt[index] = ++this.#sequence;
    for (const group of this.#groups.withAsset(index)) {
      if (group.dirty) continue;
      group.dirty = true;
      if (this.#dirty.push(group) === 1) this.#options.defer(() => this.#flush());
    }
  }

  /** Does the work that is due. */
  tick(nowNs: TimeNs): void {
    this.slowReaders.tick(nowNs);
  }

  /** Applies a changed catalogue or changed rights. */
  reload(): void {
    for (const session of this.#groups.sessions()) {
      const assets = session.assets.flatMap(({ symbol }) => this.#visible(session, symbol) ?? []);
      this.#regroup(session, assets);
    }
  }

  protected override carryOut(
    session: AggregateSession,
    request: AggregateSubscription,
    nowNs: TimeNs,
  ): void {
    if (!this.mayChange(session, request, request.symbols.length, nowNs)) return;
    if (request.type === 'subscribe') {
      this.#subscribe(session, request);
      return;
    }
    const gone = new Set(request.symbols);
    const left = session.assets.filter(({ symbol }) => !gone.has(symbol));
    this.#answerAndRegroup(session, request, left);
  }

  protected override enter(group: AggregateGroup, session: AggregateSession): void {
    if (group.dirty) return;
    // No aggregate of the group was signed since the group's last frame, so its members have everything.
    group.sequence = this.#sequence;
    this.#updateAndJoin(group, session);
  }

  #subscribe(session: AggregateSession, request: AggregateSubscription): void {
    const assets = new Map(session.assets.map((asset) => [asset.index, asset]));
    const fresh = new Set(session.fresh);
    const unknown: string[] = [];
    for (const symbol of request.symbols) {
      const asset = this.#visible(session, symbol);
      if (asset === undefined) unknown.push(symbol);
      else if (!assets.has(asset.index)) {
        assets.set(asset.index, asset);
        fresh.add(asset.index);
      }
    }
    if (!this.mayHave(session, request, assets.size)) return;
    if (fresh.size > 0) session.fresh = fresh;
    this.#answerAndRegroup(session, request, [...assets.values()]);
    if (unknown.length === 0) return;
    // An unknown symbol must not block the other symbols, because clients of this protocol read no errors.
    const error = `unknown symbols, or not covered by the token: ${unknown.join(', ')}`;
    this.replyError(session, error, request);
  }

  /** Returns the asset if the token may see it. Any other symbol is treated like a symbol that does not exist. */
  #visible({ rights, signatureType }: AggregateSession, symbol: string): Asset | undefined {
    return rights.maySee(symbol) ? this.#options.findAsset(symbol, signatureType) : undefined;
  }

  #answerAndRegroup(session: AggregateSession, { traceId }: AggregateSubscription, assets: Asset[]): void {
    assets.sort((a, b) => a.index - b.index);
    const data = { subscriptions: assets.map(({ symbol }) => symbol) };
    session.connection.send(JSON.stringify({ type: SUBSCRIPTIONS_TYPE, trace_id: traceId, data }));
    if (assets.length !== session.assets.length) this.#regroup(session, assets);
  }

  #regroup(session: AggregateSession, assets: readonly Asset[]): void {
    this.leaveGroup(session);
    if (assets.length === 0) {
      session.fresh = undefined;
      return;
    }
    this.enterGroup(this.#groups.findOrAdd(assets, this.#sequence), session);
  }

  /** Sends the frames at the end of a turn in which an aggregate was signed. */
  #flush(): void {
    const groups = this.#dirty;
    this.#dirty = [];
    for (const group of groups) {
      group.dirty = false;
      for (const { stalledSinceNs } of group.waiting)
        if (stalledSinceNs !== undefined) this.#options.counters.framesSkipped++;
      if (group.members.size > 0) {
        const signed = group.assets.filter((asset) => this.#isSignedAfter(group.sequence, asset));
        const frame = this.#frame(signed);
        // Members that cannot take the frame leave during the call. These members have received everything that was sent to
        // the group before.
        if (frame !== undefined) this.#options.publish(group.topic, Buffer.from(frame), this.#sequence);
      }
      group.sequence = this.#sequence;
      for (const session of group.waiting)
        if (session.stalledSinceNs === undefined) this.#updateAndJoin(group, session);
    }
  }

  /**
   * Sends a waiting connection the aggregates that only this connection lacks. Then the connection joins the topic, unless
   * its socket did not take them.
   */
  #updateAndJoin(group: AggregateGroup, session: AggregateSession): void {
    const { fresh, sequence } = session;
    const due = group.assets.filter(
      (asset) => fresh?.has(asset.index) || this.#isSignedAfter(sequence, asset),
    );
    session.fresh = undefined;
    session.sequence = this.#sequence;
    const frame = this.#frame(due);
    if (frame !== undefined) session.connection.send(frame);
    if (session.stalledSinceNs !== undefined) return;
    group.waiting.delete(session);
    group.members.add(session);
    session.connection.join(group.topic, group.sequence);
  }

  /** Tells whether the asset was signed after a sequence. An aggregate from disk after a restart counts as signed at 0. */
  #isSignedAfter(sequence: number, { index }: Asset): boolean {
    return (this.#signedAt[index] ?? 0) > sequence;
  }

  /** @returns `undefined` when none of the assets has a live price */
  #frame(assets: readonly Asset[]): string | undefined {
    const { latest, json, clock, counters } = this.#options;
    const entries: string[] = [];
    for (const asset of assets) {
      const aggregate = latest(asset);
      if (aggregate !== undefined) entries.push(`${JSON.stringify(asset.symbol)}:${json(aggregate)}`);
    }
    if (entries.length === 0) return undefined;
    counters.framesMade++;
    const traceId = `${clock.nowNs().toString(16)}-${(++this.#frames).toString(16)}`;
    return `{"type":"${ORACLE_PRICES_TYPE}","trace_id":"${traceId}","data":{${entries.join()}}}`;
  }
}
