import type { Asset, SignatureType } from '../model/asset.js';
import { hasAtMost } from '../model/text.js';
import type { Clock, TimeNs } from '../model/time.js';
import { ORACLE_PRICES_TYPE } from '../wire/aggregates.js';
import { SYMBOL_LENGTH_MAX } from '../wire/asset_id.js';
import { PING_TYPE } from '../wire/stream.js';
import { type AggregateGroup, AggregateGroupIndex, type AggregateSession } from './aggregate_group.js';
import {
  type AggregateRequest,
  type AggregateRequestError,
  type AggregateSubscription,
  aggregateErrorText,
  readAggregateRequest,
} from './aggregate_request.js';
import type { StreamCounters } from './engine.js';
import { pongText } from './request.js';
import { type StreamLimits, Subscriptions } from './subscriptions.js';

export interface AggregateStreamsOptions {
  /** Returns the asset with this symbol and signature type in the current configuration. */
  readonly findAsset: (symbol: string, type: SignatureType) => Asset | undefined;
  /** Returns the line of the latest aggregate, as REST shows it; `undefined` while the asset has no live price. */
  readonly lineOf: (asset: Asset) => string | undefined;
  readonly clock: Clock;
  /**
   * Publishes a frame as for `/ws`, but with separate sequences. Connections that cannot take the frame are reported to {@link
   * AggregateStreams.lagged}.
   */
  readonly publish: (topic: number, frame: Uint8Array, sequence: number) => void;
  /** Returns a topic on which no other group publishes. */
  readonly newTopic: () => number;
  /** Calls the function after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
  readonly limits: StreamLimits;
  readonly counters: StreamCounters;
}

/**
 * Streams of signed aggregates, without their sockets. A connection receives the current aggregates of its assets when it subscribes, and
 * later each new aggregate.
 *
 * A group's frame contains all aggregates that were signed in one turn of the event loop. It is made and published once. A new connection
 * or a slow reader waits outside the topic, and receives separate frames until it has all aggregates. It then joins the topic.
 *
 * Clients subscribe only once, so a connection also keeps symbols that name no asset. When a reload adds such an asset, the connection is
 * subscribed to it.
 */
export class AggregateStreams extends Subscriptions<
  AggregateSession,
  AggregateGroup,
  AggregateRequest,
  AggregateRequestError
> {
  readonly #options: AggregateStreamsOptions;
  readonly #groups: AggregateGroupIndex;
  /** The connections with symbols that have no asset yet. */
  readonly #awaiting = new Set<AggregateSession>();
  /** The number of signatures so far. `#signedAt` has the number of each asset's last signature, by asset index. */
  #sequence = 0;
  readonly #signedAt: number[] = [];
  /** The groups with an aggregate that is newer than their last frame. */
  #dirty: AggregateGroup[] = [];
  #frames = 0;

  constructor(options: AggregateStreamsOptions) {
    const groups = new AggregateGroupIndex(options.newTopic);
    const read = (text: string) => readAggregateRequest(text, options.limits.traceIdCharacters);
    super(options, groups, { read, errorText: aggregateErrorText });
    this.#groups = groups;
    this.#options = options;
  }

  /** Notes that the asset has a new latest aggregate. */
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
    for (const session of new Set([...this.#groups.sessions(), ...this.#awaiting])) {
      const before = new Set(session.assets.map(({ index }) => index));
      const symbols = [...session.assets.map(({ symbol }) => symbol), ...session.awaited];
      const { assets, unknown } = this.#findAssets(session, symbols);
      const fresh = assets.flatMap(({ index }) => (before.has(index) ? [] : [index]));
      if (fresh.length > 0) session.fresh = new Set([...(session.fresh ?? []), ...fresh]);
      this.#awaitSymbols(session, unknown);
      this.#regroup(session, sortByIndex(assets));
    }
  }

  override closed(session: AggregateSession): void {
    super.closed(session);
    this.#awaiting.delete(session);
  }

  protected override carryOut(session: AggregateSession, request: AggregateRequest, nowNs: TimeNs): void {
    if (request.type === PING_TYPE) {
      session.connection.send(pongText(request));
      return;
    }
    if (!this.mayChange(session, request, request.symbols.length, nowNs)) return;
    if (request.type === 'subscribe') {
      this.#subscribe(session, request);
      return;
    }
    const gone = new Set(request.symbols);
    this.#awaitSymbols(
      session,
      session.awaited.filter((symbol) => !gone.has(symbol)),
    );
    const left = session.assets.filter(({ symbol }) => !gone.has(symbol));
    this.#answerAndRegroup(session, request, left);
  }

  protected override enter(group: AggregateGroup, session: AggregateSession): void {
    if (group.dirty) return;
    // No aggregate of the group was signed since its last frame, so the members have all aggregates.
    group.sequence = this.#sequence;
    this.#updateAndJoin(group, session);
  }

  #subscribe(session: AggregateSession, request: AggregateSubscription): void {
    const assets = new Map(session.assets.map((asset) => [asset.index, asset]));
    const fresh = new Set(session.fresh);
    const { assets: found, unknown } = this.#findAssets(session, request.symbols);
    for (const asset of found) {
      if (assets.has(asset.index)) continue;
      assets.set(asset.index, asset);
      fresh.add(asset.index);
    }
    if (!this.mayHave(session, request, assets.size)) return;
    if (fresh.size > 0) session.fresh = fresh;
    const { subscriptionsPerConnection } = this.#options.limits;
    const room = subscriptionsPerConnection - assets.size;
    const awaited = [...new Set([...session.awaited, ...unknown.filter(isSymbol)])];
    this.#awaitSymbols(session, awaited.slice(0, room));
    this.#answerAndRegroup(session, request, sortByIndex([...assets.values()]));
    // An unknown symbol must not block the other symbols, because clients of this protocol do not read errors.
    const faults = [
      ...faultWithSymbols('unknown symbols, or not covered by the token', unknown),
      ...faultWithSymbols(
        `past subscriptions_per_connection (${subscriptionsPerConnection}), so not sent when they exist`,
        awaited.slice(room),
      ),
    ];
    if (faults.length > 0) this.replyError(session, faults.join('; '), request);
  }

  /** Finds the assets that the token may see. Symbols of other assets count as unknown. */
  #findAssets({ rights, signatureType }: AggregateSession, symbols: readonly string[]) {
    const assets: Asset[] = [];
    const unknown: string[] = [];
    for (const symbol of symbols) {
      const asset = rights.maySee(symbol) ? this.#options.findAsset(symbol, signatureType) : undefined;
      if (asset === undefined) unknown.push(symbol);
      else assets.push(asset);
    }
    return { assets, unknown };
  }

  #awaitSymbols(session: AggregateSession, symbols: readonly string[]): void {
    session.awaited = symbols;
    if (symbols.length > 0) this.#awaiting.add(session);
    else this.#awaiting.delete(session);
  }

  #answerAndRegroup(
    session: AggregateSession,
    { type, traceId }: AggregateSubscription,
    assets: readonly Asset[],
  ): void {
    const data = { subscriptions: assets.map(({ symbol }) => symbol) };
    session.connection.send(JSON.stringify({ type, trace_id: traceId, data }));
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

  /** Sends the frames at the end of a turn of the event loop in which aggregates were signed. */
  #flush(): void {
    const groups = this.#dirty;
    this.#dirty = [];
    for (const group of groups) {
      group.dirty = false;
      for (const { stalledSinceNs } of group.waiting)
        if (stalledSinceNs !== undefined) this.#options.counters.framesSkipped++;
      if (group.members.size > 0) {
        const signed = group.assets.filter((asset) => this.#isSignedAfter(group.sequence, asset));
        const frame = this.#frameOf(signed);
        // Members that cannot take the frame leave the topic during this call. They have received all earlier frames of the group.
        if (frame !== undefined) this.#options.publish(group.topic, Buffer.from(frame), this.#sequence);
      }
      group.sequence = this.#sequence;
      for (const session of group.waiting)
        if (session.stalledSinceNs === undefined) this.#updateAndJoin(group, session);
    }
  }

  /**
   * Sends a waiting connection the aggregates that it lacks. The connection then joins the topic, unless its socket could not take the
   * frame.
   */
  #updateAndJoin(group: AggregateGroup, session: AggregateSession): void {
    const { fresh, sequence } = session;
    const due = group.assets.filter(
      (asset) => fresh?.has(asset.index) || this.#isSignedAfter(sequence, asset),
    );
    session.fresh = undefined;
    session.sequence = this.#sequence;
    const frame = this.#frameOf(due);
    if (frame !== undefined) session.connection.send(frame);
    if (session.stalledSinceNs !== undefined) return;
    group.waiting.delete(session);
    group.members.add(session);
    session.joined();
    session.connection.join(group.topic, group.sequence);
  }

  /** Returns whether the asset was signed after a sequence. An aggregate that was read from disk after a restart has the sequence 0. */
  #isSignedAfter(sequence: number, { index }: Asset): boolean {
    return (this.#signedAt[index] ?? 0) > sequence;
  }

  /** @returns `undefined` when no asset has a live price */
  #frameOf(assets: readonly Asset[]): string | undefined {
    const { lineOf, clock, counters } = this.#options;
    const entries: string[] = [];
    for (const asset of assets) {
      const line = lineOf(asset);
      if (line !== undefined) entries.push(`${JSON.stringify(asset.symbol)}:${line}`);
    }
    if (entries.length === 0) return undefined;
    counters.framesMade++;
    const traceId = `${clock.nowNs().toString(16)}-${(++this.#frames).toString(16)}`;
    return `{"type":"${ORACLE_PRICES_TYPE}","trace_id":"${traceId}","data":{${entries.join()}}}`;
  }
}

function sortByIndex(assets: Asset[]): readonly Asset[] {
  return assets.sort((a, b) => a.index - b.index);
}

/** Returns whether a text is short enough for a symbol. Longer texts never name an asset. */
function isSymbol(text: string): boolean {
  return hasAtMost(SYMBOL_LENGTH_MAX, text);
}

/** Returns the fault as a list; an empty list without symbols. */
function faultWithSymbols(fault: string, symbols: readonly string[]): readonly string[] {
  return symbols.length === 0 ? [] : [`${fault}: ${symbols.join(', ')}`];
}
