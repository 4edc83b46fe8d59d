import { NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { type Decision, decide, isSameDecision, type WithheldReason } from './decision.js';
import { type DecisionTrigger, decisionLine } from './decision_line.js';
import { HeldMarket } from './held_market.js';
import { type HeldQuote, isSameTop, type MarketQuote } from './market_quote.js';
import { distanceOf, reachesPercent } from './median.js';
import type { AssetInput, AssetPlan, SourcesPlan } from './plan.js';
import { type DeciderState, loadMarket, loadNumber, saveMarket } from './room_state.js';
import { BUILT_IN_KINDS } from './sources_schema.js';

/** Writes a decision's line. */
export type WriteDecision = (line: string, decision: Decision, trigger: DecisionTrigger) => void;

/**
 * Keeps the newest quote of every market and decides prices. At every tick, `write` receives the decisions that have a price. Between
 * ticks, `write` receives an asset's first price, prices that moved by `delta`, and new reasons for a missing price.
 */
export class Decider {
  readonly #assets: readonly Judged[];
  readonly #bySymbol: ReadonlyMap<string, Judged>;
  /** The assets whose conversions use an asset's price, by the symbol of that asset. */
  readonly #converted = new Map<string, Judged[]>();
  /** The markets by source and symbol. */
  readonly #markets = new Map<string, KnownMarket>();
  /** The market of each input. */
  readonly #marketOf = new Map<AssetInput, HeldMarket>();
  readonly #delta: bigint;
  readonly #write: WriteDecision;
  /** The number of the current call. No quote and no time changes during a call, so each asset is checked once. */
  #call = 0;
  /** The wall clock minus the clock of all other times. Lines show times of the wall clock. */
  shiftNs = 0n;

  constructor({ sources, assets, publish }: SourcesPlan, write: WriteDecision) {
    this.#delta = publish.delta;
    this.#write = write;
    this.#assets = assets.map((plan) => new Judged(plan));
    this.#bySymbol = new Map(this.#assets.map((judged) => [judged.plan.symbol, judged]));
    for (const judged of this.#assets)
      for (const input of judged.plan.inputs) {
        const key = keyOf(input);
        const { kind } = sources.get(input.source)!;
        const market = this.#markets.get(key) ?? {
          held: new HeldMarket(isBuiltIn(kind), longestAgeNs(assets, key)),
          assets: [],
        };
        this.#markets.set(key, market);
        this.#marketOf.set(input, market.held);
        if (!market.assets.includes(judged)) market.assets.push(judged);
        if (input.conversion !== undefined) addTo(this.#converted, input.conversion, judged);
      }
  }

  /** Stores a quote and decides the prices of its assets. */
  take(source: string, quote: MarketQuote, receivedNs: TimeNs): void {
    const market = this.#markets.get(keyOf({ source, symbol: quote.symbol }));
    if (market === undefined) return;
    this.#call++;
    const before = market.held.quote;
    if (!market.held.keep(quote, receivedNs, this.shiftNs)) return;
    const held = market.held.quote!;
    const isSame =
      before !== undefined &&
      isSameTop(before, held) &&
      before.timeNs <= held.timeNs &&
      before.isTimeless === held.isTimeless;
    // All assets are marked first, because a changed price also decides the assets that it converts.
    for (const asset of market.assets)
      if (isSame) asset.hasNewTime = true;
      else asset.hasNewQuote = true;
    for (const asset of market.assets) {
      if (isSame && this.#staysAs(asset, before, receivedNs)) continue;
      asset.hasNewQuote = true;
      this.#reportIfMoved(asset, receivedNs);
    }
  }

  /** Drops all quotes of a source, because its market has halted. */
  forget(source: string, nowNs: TimeNs): void {
    this.#call++;
    const judged = this.#assets.filter(({ plan }) => plan.inputs.some((input) => input.source === source));
    for (const { inputs } of judged.map(({ plan }) => plan))
      for (const input of inputs) if (input.source === source) this.#marketOf.get(input)!.quote = undefined;
    for (const asset of judged) asset.hasNewQuote = true;
    for (const asset of judged) this.#reportIfMoved(asset, nowNs);
  }

  /** Decides and writes the prices of all assets at the end of the interval. */
  tick(nowNs: TimeNs): Decision[] {
    this.#call++;
    return this.#assets.map((asset) => {
      const decision = this.#decideNow(asset, nowNs);
      asset.price = decision.price;
      if (decision.price === undefined) this.#withholdPrice(asset, decision);
      else this.#reportPrice(asset, decision, 'clock');
      return decision;
    });
  }

  /** Returns the decision about every asset at an instant, without writing it. */
  decisions(nowNs: TimeNs): Decision[] {
    this.#call++;
    return this.#assets.map((asset) => this.#decideNow(asset, nowNs));
  }

  /** Returns the state on which later decisions depend. */
  state(): DeciderState {
    return {
      shift: String(this.shiftNs),
      markets: [...this.#markets].map(([key, { held }]) => saveMarket(key, held)),
      assets: this.#assets.map(({ plan, price, said, reason, unsaid, verdicts, saidNs }) => ({
        asset: plan.symbol,
        price: price?.toString(),
        said: said?.toString(),
        reason,
        unsaid,
        verdicts,
        at: String(saidNs),
      })),
    };
  }

  /** Continues from a state. Ignores assets that the plan lacks. */
  restore({ shift, markets, assets }: DeciderState): void {
    this.shiftNs = BigInt(shift);
    for (const { held } of this.#markets.values()) held.forget();
    for (const saved of markets) {
      const market = this.#markets.get(saved.market);
      if (market !== undefined) loadMarket(saved, market.held);
    }
    for (const asset of this.#assets) asset.hasNewQuote = true;
    for (const { asset, price, said, reason, unsaid, verdicts, at } of assets) {
      const judged = this.#bySymbol.get(asset);
      if (judged === undefined) continue;
      judged.price = loadNumber(price) as Judged['price'];
      judged.said = loadNumber(said) as Judged['said'];
      judged.reason = reason;
      judged.unsaid = unsaid;
      judged.verdicts = verdicts;
      judged.saidNs = BigInt(at);
    }
  }

  #reportIfMoved(asset: Judged, nowNs: TimeNs): void {
    const decision = this.#decideNow(asset, nowNs);
    const { price } = decision;
    const hasChanged = price !== asset.price;
    asset.price = price;
    if (price === undefined) this.#withholdPrice(asset, decision);
    else if (
      asset.said === undefined ||
      reachesPercent(distanceOf(price, asset.said), asset.said, this.#delta)
    )
      this.#reportPrice(asset, decision, 'delta');
    if (hasChanged)
      for (const user of this.#converted.get(asset.plan.symbol) ?? []) this.#reportIfMoved(user, nowNs);
  }

  #decideNow(asset: Judged, nowNs: TimeNs): Decision {
    asset.hasNewQuote ||= asset.hasNewTime;
    const decision = this.#lastOrNewDecision(asset, nowNs);
    return decision.atNs === nowNs ? decision : { ...decision, atNs: nowNs };
  }

  /**
   * Decides the asset's price. First decides the assets that convert its prices, because their quotes may have become too old. Returns the
   * last decision, with its time, if nothing has changed since.
   */
  #lastOrNewDecision(asset: Judged, nowNs: TimeNs): Decision {
    const { last } = asset;
    if (last !== undefined && this.#isStillRight(asset, last, nowNs)) {
      asset.checkedCall = this.#call;
      return last;
    }
    const inputs = { quoteOf: this.#quoteOf, priceOf: this.#pricesAt(nowNs), earlier: last?.read };
    asset.last = decide(asset.plan, inputs, nowNs);
    asset.hasNewQuote = false;
    asset.hasNewTime = false;
    asset.checkedCall = this.#call;
    return asset.last;
  }

  /** Returns whether the asset's last decision still has the right price. */
  #isStillRight(asset: Judged, last: Decision, nowNs: TimeNs): boolean {
    if (asset.hasNewQuote) return false;
    return asset.checkedCall === this.#call || isSameDecision(last, this.#pricesAt(nowNs), nowNs);
  }

  /** Returns whether a later quote with the same best prices as `before` changes nothing: no price, and no count of missing prices. */
  #staysAs(asset: Judged, before: HeldQuote, nowNs: TimeNs): boolean {
    const { last, plan, price } = asset;
    const hadPrice = last !== undefined && price !== undefined && last.price === price;
    return hadPrice && nowNs - before.timeNs <= plan.maxAgeNs && this.#isStillRight(asset, last, nowNs);
  }

  #pricesAt(nowNs: TimeNs): (symbol: string) => bigint | undefined {
    return (symbol) => this.#lastOrNewDecision(this.#bySymbol.get(symbol)!, nowNs).price;
  }

  readonly #quoteOf = (input: AssetInput): HeldQuote | undefined => this.#marketOf.get(input)!.quote;

  #reportPrice(asset: Judged, decision: Decision, trigger: DecisionTrigger): void {
    const { unsaid } = asset;
    asset.said = decision.price;
    asset.reason = undefined;
    asset.unsaid = 0;
    this.#write(decisionLine(decision, { trigger, unsaid, shiftNs: this.shiftNs }), decision, trigger);
  }

  #withholdPrice(asset: Judged, decision: Decision): void {
    asset.said = undefined;
    const isSameReason = decision.withheld === asset.reason;
    if (
      isSameReason &&
      (decision.atNs < asset.saidNs + SAME_REASON_NS || verdictsOf(decision) === asset.verdicts)
    ) {
      asset.unsaid++;
      return;
    }
    const { unsaid } = asset;
    asset.reason = decision.withheld;
    asset.verdicts = verdictsOf(decision);
    asset.saidNs = decision.atNs;
    asset.unsaid = 0;
    this.#write(
      decisionLine(decision, { trigger: 'withheld', unsaid, shiftNs: this.shiftNs }),
      decision,
      'withheld',
    );
  }
}

/** A symbol at a source, and the assets that use it as an input. */
interface KnownMarket {
  readonly held: HeldMarket;
  readonly assets: Judged[];
}

/** An asset with its last decision and its last written line. */
class Judged {
  readonly plan: AssetPlan;
  /** The last decision. */
  last: Decision | undefined;
  /** True if a quote of its markets has changed since the last decision. */
  hasNewQuote = false;
  /** True if a quote of its markets has a later time, and nothing else has changed since the last decision. */
  hasNewTime = false;
  /** The last call in which the last decision was checked. */
  checkedCall = 0;
  /** The last decided price. */
  price: bigint | undefined;
  /** The last written price; `undefined` after a line without a price. */
  said: bigint | undefined;
  /** The reason of the last written line, if it had no price. */
  reason: WithheldReason | undefined;
  /** The number of decisions since then without a price, for the same reason. */
  unsaid = 0;
  /** The verdicts and the time of the last written line without a price. */
  verdicts = '';
  saidNs = 0n;

  constructor(plan: AssetPlan) {
    this.plan = plan;
  }
}

/** The shortest time between two lines about an asset without a price for the same reason, whose verdicts differ. */
const SAME_REASON_NS = 60n * NS_PER_SECOND;

function verdictsOf({ readings }: Decision): string {
  return readings.map(({ verdict }) => verdict).join();
}

function isBuiltIn(kind: string): boolean {
  return (BUILT_IN_KINDS as readonly string[]).includes(kind);
}

/** Returns the longest `max_age` of the assets of a market. */
function longestAgeNs(assets: readonly AssetPlan[], key: string): bigint {
  const ages = assets.filter(({ inputs }) => inputs.some((input) => keyOf(input) === key));
  return ages.reduce((longest, { maxAgeNs }) => (maxAgeNs > longest ? maxAgeNs : longest), 0n);
}

function keyOf({ source, symbol }: Pick<AssetInput, 'source' | 'symbol'>): string {
  return `${source} ${symbol}`;
}

function addTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else if (!list.includes(item)) list.push(item);
}
