import { RefusedError, TicksealError, UnverifiedError } from '../connect/errors.js';
import type { Platform } from '../connect/platform.js';
import type { AggregatePrice } from '../prices/market_data.js';
import { bySymbol } from '../prices/symbol_table.js';
import type { OperatorClient, QuorumRules } from './quorum_options.js';
import { type NoQuorumEvent, QuorumTick } from './quorum_tick.js';
import {
  countVotes,
  equivocationOf,
  type OperatorFault,
  type Standing,
  type VoteTime,
} from './vote_count.js';

/** An error for a request without any price on which enough operators agree. */
export class NoQuorumError extends TicksealError {
  /** The name of the class. The name stays the same when a bundler renames the class. */
  override readonly name = 'NoQuorumError';

  /** @internal */
  constructor(
    /** The reason for each symbol. */
    readonly reasons: readonly NoQuorumEvent[],
  ) {
    super(reasons.map(({ symbol, reason }) => `${symbol}: ${reason}`).join('; '));
  }
}

/** A request that goes to every operator. */
export interface OperatorRequest<O extends OperatorClient = OperatorClient> {
  readonly symbols: readonly string[];
  /** Requests the symbols that an operator knows. */
  readonly request: (
    operator: O,
    known: readonly string[],
  ) => Promise<Readonly<Record<string, AggregatePrice>>>;
  readonly rules: QuorumRules;
  readonly time: () => VoteTime;
}

/** The time for which the client waits for slower operators after all symbols have a quorum. */
const GRACE_MS = 250;
const BAD_REQUEST = 400;

/** The answer of one operator. */
interface Answer {
  readonly prices: ReadonlyMap<string, AggregatePrice>;
  /** The reason why a symbol is not among the prices. */
  readonly faultOf: (symbol: string) => OperatorFault;
}

/**
 * Asks all operators at once. Waits for all answers. After every symbol has a quorum, the function waits only {@link GRACE_MS} more.
 * @throws NoQuorumError when no symbol has a quorum
 */
export async function askOperators<O extends OperatorClient>(
  operators: readonly O[],
  asked: OperatorRequest<O>,
  { schedule }: Pick<Platform, 'schedule'>,
  onNoQuorum: (event: NoQuorumEvent) => void,
): Promise<Record<string, QuorumTick>> {
  const answers = new Map<OperatorClient, Answer>();
  let cancelGrace: (() => void) | undefined;
  await new Promise<void>((resolve) => {
    const answered = (operator: OperatorClient, answer: Answer): void => {
      answers.set(operator, answer);
      if (answers.size === operators.length) resolve();
      else if (cancelGrace === undefined && countAll().every((one) => one instanceof QuorumTick))
        cancelGrace = schedule(resolve, GRACE_MS);
    };
    for (const operator of operators) answerOf(operator, asked).then((answer) => answered(operator, answer));
  });
  cancelGrace?.();
  const counted = countAll();
  const ticks = counted.filter((one) => one instanceof QuorumTick);
  const lacking = counted.filter((one): one is NoQuorumEvent => !(one instanceof QuorumTick));
  for (const event of lacking) onNoQuorum(event);
  if (ticks.length === 0 && lacking.length > 0) throw new NoQuorumError(lacking);
  return bySymbol(ticks.map((tick) => [tick.symbol, tick]));

  function countAll(): (QuorumTick | NoQuorumEvent)[] {
    const time = asked.time();
    return [...new Set(asked.symbols)].map((symbol) => {
      const standings = operators.map((operator) =>
        standingOf(operator, answers.get(operator) ?? WAITED, symbol),
      );
      return countVotes(symbol, standings, asked.rules, time);
    });
  }
}

const WAITED: Answer = {
  prices: new Map(),
  faultOf: () => ({ verdict: 'silent', reason: 'it has not answered yet' }),
};

function standingOf(one: OperatorClient, { prices, faultOf }: Answer, symbol: string): Standing {
  const operator = one.name;
  const found = prices.get(symbol);
  const equivocation = equivocationOf(one);
  const fault = equivocation ?? faultOf(symbol);
  if (found === undefined) return { operator, price: undefined, fault };
  const { price, timestampNs, signer, url } = found;
  // Votes compare the price's time with the wanted time, which may be long ago. The age until now does not count, so it is 0 here.
  return { operator, price: { price, timestampNs, signer, url, ageMs: 0 }, fault: equivocation };
}

async function answerOf<O extends OperatorClient>(
  operator: O,
  { symbols, request }: OperatorRequest<O>,
): Promise<Answer> {
  try {
    return answerWith(await request(operator, symbols), symbols);
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== BAD_REQUEST) return faultyAnswer(error);
  }
  // An operator refuses a whole request if one symbol is unknown.
  try {
    const known = new Set(await operator.client.assets());
    const rest = symbols.filter((symbol) => known.has(symbol));
    return answerWith(rest.length === 0 ? {} : await request(operator, rest), rest);
  } catch (error) {
    return faultyAnswer(error);
  }
}

/** @param known the requested symbols; the operator has all of these symbols */
function answerWith(found: Readonly<Record<string, AggregatePrice>>, known: readonly string[]): Answer {
  // Signers that a function returns may be 'unchecked'.
  const prices = new Map(Object.entries(found).filter(([, { verdict }]) => verdict === 'verified'));
  const unchecked = new Set(Object.keys(found).filter((symbol) => !prices.has(symbol)));
  return {
    prices,
    faultOf(symbol) {
      if (unchecked.has(symbol)) return { verdict: 'unverified', reason: 'signers names no address' };
      return known.includes(symbol)
        ? { verdict: 'silent', reason: 'it has no such price' }
        : { verdict: 'unknown asset', reason: 'it does not have the symbol' };
    },
  };
}

function faultyAnswer(error: unknown): Answer {
  const verdict =
    error instanceof UnverifiedError ? 'unverified' : error instanceof RefusedError ? 'refused' : 'down';
  const fault: OperatorFault = { verdict, reason: (error as Error).message };
  return { prices: new Map(), faultOf: () => fault };
}
