// The rules of a decision, written anew from their description and as slowly as they read: nothing here comes from the code of src. The
// whole history of every market is read again for each decision.

/** A frame of a market as a test made it. Prices are integers times 10^18, times are nanoseconds. */
export interface Frame {
  readonly receivedNs: bigint;
  readonly bid: bigint;
  readonly ask: bigint;
  readonly trade?: bigint | undefined;
  readonly own?: bigint | 'unreadable' | undefined;
  /** True for an answer over REST, or a frame that the exchange sends again without news. */
  readonly isRepeated?: boolean | undefined;
  /** The wall clock minus the clock of the receipts, at the receipt. */
  readonly shiftNs: bigint;
}

export interface ReferenceMarket {
  readonly source: string;
  readonly book: string;
  readonly isExchange: boolean;
  readonly frames: readonly Frame[];
  readonly rate?: { readonly price: bigint | undefined; readonly divides: boolean } | undefined;
}

export interface ReferenceRules {
  readonly maxAgeNs: bigint;
  readonly minSources: number;
  /** In thousandths of a percent. */
  readonly maxSpread: bigint;
  readonly maxDeviation: bigint;
  readonly bounds?: readonly [bigint, bigint] | undefined;
}

export interface ReferenceResult {
  readonly price: bigint | undefined;
  readonly withheld: string | undefined;
  readonly verdicts: readonly string[];
}

const SECOND = 1_000_000_000n;
const ONE = 10n ** 18n;
const abs = (value: bigint) => (value < 0n ? -value : value);
const isMore = (part: bigint, whole: bigint, thousandths: bigint) =>
  part * 100_000n > abs(whole) * thousandths;

function median(values: readonly bigint[]): bigint {
  const up = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const half = Math.floor(up.length / 2);
  return up.length % 2 === 1 ? up[half]! : (up[half - 1]! + up[half]!) / 2n;
}

interface Seen {
  readonly frame: Frame;
  readonly ageAtReceiptNs: bigint;
  readonly newestOwn: bigint | undefined;
  readonly provenNs: bigint;
  readonly movedNs: bigint;
}

/** The frames of an exchange with a time, up to a frame: the least delay of ten minutes, in steps of ten seconds. */
function leastDelay(timed: readonly Frame[]): bigint {
  const step = (frame: Frame) => frame.receivedNs / (10n * SECOND);
  const now = step(timed.at(-1)!);
  let begin = 0;
  for (let i = 1; i < timed.length; i++) if (step(timed[i]!) - step(timed[i - 1]!) > 60n) begin = i;
  const window = timed.slice(begin).filter((frame) => step(frame) >= now - 60n);
  const delays = window.map((frame) => frame.receivedNs - (frame.own as bigint));
  const least = delays.reduce((low, delay) => (delay < low ? delay : low));
  const isKnown = now - step(timed[begin]!) >= 60n && window.length >= 30;
  return isKnown || least < 0n ? least : 0n;
}

/** Reads all frames of a market in order. */
function newest({ frames, isExchange }: ReferenceMarket, longestAgeNs: bigint): Seen | undefined {
  let last: Seen | undefined;
  const timed: Frame[] = [];
  for (const frame of frames) {
    const own = typeof frame.own === 'bigint' ? frame.own : undefined;
    const isSame =
      last !== undefined &&
      frame.bid === last.frame.bid &&
      frame.ask === last.frame.ask &&
      frame.trade === last.frame.trade;
    const confirms = isSame && frame.isRepeated === true;
    const newestOwn = last?.newestOwn;
    if (own !== undefined && newestOwn !== undefined && own < newestOwn && !confirms) {
      const stillCounts = frame.receivedNs - last!.frame.receivedNs + last!.ageAtReceiptNs <= longestAgeNs;
      if (stillCounts) continue;
    }
    let ageAtReceiptNs = 0n;
    if (own !== undefined && isExchange && !confirms) {
      if (frame.isRepeated !== true) timed.push(frame);
      const least = timed.length === 0 ? 0n : leastDelay(timed);
      ageAtReceiptNs = frame.receivedNs - own - least;
    } else if (own !== undefined && !confirms) {
      const byWall = frame.receivedNs + frame.shiftNs - own;
      const bySteady = frame.receivedNs - own;
      ageAtReceiptNs = byWall > bySteady ? byWall : bySteady;
    }
    if (ageAtReceiptNs < 0n) ageAtReceiptNs = 0n;
    const isNews =
      frame.isRepeated === true
        ? !isSame || (own !== undefined && newestOwn !== undefined && own > newestOwn)
        : !(isSame && own !== undefined && own === newestOwn);
    last = {
      frame,
      ageAtReceiptNs,
      newestOwn:
        confirms && own !== undefined && newestOwn !== undefined && own < newestOwn
          ? newestOwn
          : (own ?? newestOwn),
      provenNs: isNews ? frame.receivedNs : last!.provenNs,
      movedNs: isSame ? last!.movedNs : frame.receivedNs,
    };
  }
  return last;
}

/** Decides the price of an asset. */
export function referenceDecision(
  markets: readonly ReferenceMarket[],
  rules: ReferenceRules,
  nowNs: bigint,
): ReferenceResult {
  const read = markets.map((market) => {
    const seen = newest(market, rules.maxAgeNs);
    const outcome = (verdict: string) => ({ market, seen, verdict, price: 0n });
    if (seen === undefined) return outcome('no quote');
    if (seen.frame.own === 'unreadable') return outcome('no time');
    const { bid, ask, trade, receivedNs } = seen.frame;
    if (nowNs - receivedNs + seen.ageAtReceiptNs > rules.maxAgeNs)
      return outcome(seen.ageAtReceiptNs > rules.maxAgeNs ? 'late' : 'stale');
    if (trade === undefined ? bid === 0n || ask === 0n : trade === 0n) return outcome('empty');
    if (trade === undefined && bid > ask) return outcome('crossed');
    // The spread is a share of the middle: (ask - bid) / ((ask + bid) / 2).
    if (trade === undefined && isMore((ask - bid) * 2n, ask + bid, rules.maxSpread)) return outcome('wide');
    if (market.rate !== undefined && market.rate.price === undefined) return outcome('converted without');
    const [top, bottom] = trade === undefined ? [bid + ask, 2n] : [trade, 1n];
    const rate = market.rate?.price ?? ONE;
    const price = market.rate?.divides ? (top * ONE) / (bottom * rate) : (top * rate) / (bottom * ONE);
    return price === 0n || price >= 2n ** 127n || price < -(2n ** 127n)
      ? outcome('empty')
      : { market, seen, verdict: 'used', price };
  });
  const still = read.filter(
    ({ market, seen, verdict }) =>
      verdict === 'used' &&
      market.isExchange &&
      nowNs - seen!.provenNs > 6n * rules.maxAgeNs &&
      read.some(
        (other) =>
          other.verdict === 'used' &&
          other.market.book !== market.book &&
          other.seen!.movedNs > seen!.provenNs,
      ),
  );
  for (const one of still) one.verdict = 'unproven';
  const valuesOf = (chosen: typeof read) => {
    const books = [...new Set(chosen.map(({ market }) => market.book))];
    return books.map((book) => ({
      book,
      value: median(chosen.filter(({ market }) => market.book === book).map(({ price }) => price)),
    }));
  };
  const candidates = read.filter(({ verdict }) => verdict === 'used');
  let values = valuesOf(candidates);
  if (values.length >= 3) {
    const middle = median(values.map(({ value }) => value));
    const spread = median(values.map(({ value }) => abs(value - middle)));
    const far = values.filter(
      ({ value }) =>
        isMore(abs(value - middle), middle, rules.maxDeviation) && abs(value - middle) > 4n * spread,
    );
    values = values.filter((one) => !far.includes(one));
    for (const one of candidates)
      if (far.some(({ book }) => book === one.market.book)) one.verdict = 'outlier';
  }
  const verdicts = read.map(({ verdict }) => verdict);
  const none = (withheld: string) => ({ price: undefined, withheld, verdicts });
  if (values.length < rules.minSources) return none('too few sources');
  const price = median(values.map(({ value }) => value));
  const up = values.map(({ value }) => value).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  if (up.length % 2 === 0) {
    const [low, high] = [up[up.length / 2 - 1]!, up[up.length / 2]!];
    if (isMore(high - low, price, rules.maxDeviation)) return none('sources disagree');
  }
  const direct = valuesOf(candidates.filter(({ market }) => market.rate === undefined));
  if (direct.length >= 2) {
    const anchor = median(direct.map(({ value }) => value));
    const agreeing = direct.filter(({ value }) => !isMore(abs(value - anchor), anchor, rules.maxDeviation));
    if (agreeing.length >= 2 && isMore(abs(price - anchor), anchor, rules.maxDeviation))
      return none('sources disagree');
  }
  if (rules.bounds !== undefined && (price < rules.bounds[0] || price > rules.bounds[1]))
    return none('outside bounds');
  return { price, withheld: undefined, verdicts };
}
