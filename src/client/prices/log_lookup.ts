import { type LogPolicy, parsePolicy } from '../../tlog/log_policy.js';
import { REST_PATHS } from '../../wire/paths.js';
import { EquivocationError, ProtocolError, type TicksealError } from '../connect/errors.js';
import { RestService } from '../connect/rest_service.js';
import { TokenSource } from '../connect/token_source.js';
import { changedOrigin } from '../verify/changed_origin.js';
import { CheckpointHistory } from '../verify/checkpoint_history.js';
import { signersOf } from '../verify/checks.js';
import { formatEvidence } from '../verify/evidence_file.js';
import { parseForeignJson } from '../verify/foreign_json.js';
import { type LogAnswer, searchLog } from '../verify/search_log.js';
import type { ClientContext } from './client_context.js';
import { logOf } from './log_of_service.js';
import { AggregatePrice, at } from './market_data.js';
import { priceRange } from './price_range.js';
import type { StreamedType } from './taxonomy.js';
import type { Tick } from './tick.js';

/** The pause before the first attempt. Each further pause is twice as long, up to the deadline of the price. */
const FIRST_PAUSE_MS = 1_000;
/** The longest wait for a proof. If a service promises a longer delay, the client waits only for this time. */
const PROMISE_MS_MAX = 7_200_000;
/** The delay of a log whose service promises none. */
const PROMISE_MS_DEFAULT = 120_000;
/** The time that a log may be later than the service promises. */
const SLACK_MS = 15_000;
/** The largest time between a tick and the signature of the aggregate with the tick's price. */
const AROUND_NS = 2_000_000_000n;

/** Looks up prices in the public logs of their services. The outcomes are events of the client. */
export class LogLookup {
  readonly #context: ClientContext;
  readonly #policy: LogPolicy;
  /** The name of each service's log, by the address of the service. */
  readonly #origins = new Map<string, string>();
  /** The checkpoints of each service's log that were read. */
  readonly #histories = new Map<string, CheckpointHistory>();
  /** The delay that each service promises, as it was first read. */
  readonly #promises = new Map<string, Promise<number>>();
  /** The functions that end a pause. */
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  /** @throws TlogError for a text that is not a policy */
  constructor(policy: string, context: ClientContext) {
    this.#policy = parsePolicy(policy);
    this.#context = context;
  }

  /** Abandons all prices that wait for a proof. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#waiting) end();
  }

  /** Looks up a price. Resolves after the event with the outcome. @param signatureType the signature type of the tick's stream */
  async lookUp(price: Tick, signatureType: StreamedType | undefined): Promise<void> {
    // A request to a log carries no token, so a page of any origin can read the log.
    const service = new RestService(price.url, this.#context.platform, new TokenSource(undefined, undefined));
    const { steadyMs } = this.#context.platform;
    const sinceMs = steadyMs();
    const history = this.#historyOf(price.url);
    const promisedMs = await this.#promiseOf(service);
    const lateMs = promisedMs + SLACK_MS;
    let reason = '';
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
      const leftMs = sinceMs + lateMs - steadyMs();
      await this.#pause(Math.min(pauseMs, leftMs));
      if (this.#isClosed) return;
      const answer = await this.#answerOf(price, signatureType, service, history);
      const smaller = history.takeSmaller();
      if (smaller !== undefined) this.#report(new ProtocolError(price.url, smaller));
      if (answer === 'reported' || this.#isClosed) return;
      if ('logged' in answer) return this.#tellLogged(price, answer);
      if ('evidence' in answer) return this.#reportEvidence(price, answer);
      reason = answer.lacks;
      // Waiting does not add a log to the policy.
      if (answer.isOther || leftMs <= pauseMs) break;
    }
    const waited = `${inSeconds(steadyMs() - sinceMs)} s after it came, with ${inSeconds(promisedMs)} s promised`;
    const text = `${price.symbol} of ${price.timestampNs} ns is not proved to be in the public log ${waited}: ${reason}${history.staleText(lateMs)}`;
    this.#report(new ProtocolError(price.url, text));
  }

  #historyOf(url: string): CheckpointHistory {
    const known = this.#histories.get(url) ?? new CheckpointHistory(this.#context.platform.steadyMs);
    this.#histories.set(url, known);
    return known;
  }

  #promiseOf(service: RestService): Promise<number> {
    const known = this.#promises.get(service.url) ?? promisedMsOf(service);
    this.#promises.set(service.url, known);
    return known;
  }

  async #answerOf(
    price: Tick,
    signatureType: StreamedType | undefined,
    service: RestService,
    history: CheckpointHistory,
  ): Promise<LogAnswer | 'reported'> {
    const { signers, oracleId } = this.#context.trust;
    try {
      const aggregate =
        price instanceof AggregatePrice ? price : await this.#aggregateOf(price, signatureType);
      const expected = { policy: this.#policy, oracleId, signers: signersOf(signers, aggregate.timestampNs) };
      return await searchLog(aggregate.text, logOf(service, history), expected);
    } catch (error) {
      const { message } = error as Error;
      if (!(error instanceof ProtocolError || error instanceof EquivocationError)) return { lacks: message };
      this.#report(error);
      return 'reported';
    }
  }

  /**
   * Reads the aggregate with the price of a tick. The log contains aggregates and no ticks.
   * @throws ProtocolError when the service signed no aggregate with this price at about this time
   */
  async #aggregateOf(tick: Tick, streamed: StreamedType | undefined): Promise<AggregatePrice> {
    const { services, trust } = this.#context;
    const service = services.find(({ url }) => url === tick.url)!;
    const [type, symbol] = streamed === 'both' ? tick.symbol.split(' ') : [streamed, tick.symbol];
    const query = { signatureType: type as Exclude<StreamedType, 'both'> | undefined };
    const inForce = (await at(service, [symbol!], tick.timestampNs, query, trust))[symbol!];
    if (inForce?.price === tick.price) return inForce;
    // The service signs an aggregate and a payload at the same time, so either time may be the earlier time.
    const span = { from: tick.timestampNs - AROUND_NS, to: tick.timestampNs + AROUND_NS };
    for await (const one of priceRange(this.#context, symbol!, { ...query, ...span }, false))
      if (one.price === tick.price) return one;
    const text = `it streamed ${tick.symbol} at ${tick.decimal} for ${tick.timestampNs} ns, and has no signed aggregate with this price`;
    throw new ProtocolError(tick.url, text);
  }

  #tellLogged(
    { url, symbol }: Tick,
    { logged, timeNs }: Extract<LogAnswer, { readonly logged: unknown }>,
  ): void {
    const { origin, batch, cosigners } = logged;
    const before = this.#origins.get(url) ?? origin;
    this.#origins.set(url, origin);
    if (before !== origin) this.#report(new ProtocolError(url, changedOrigin(origin, before)));
    this.#context.listeners.emit('logged', {
      url,
      symbol,
      timestampNs: timeNs,
      origin,
      batch: batch.batch,
      cosigners: [...cosigners.keys()],
    });
  }

  #reportEvidence(
    { url, symbol }: Tick,
    { evidence, statement }: Extract<LogAnswer, { readonly evidence: unknown }>,
  ): void {
    this.#report(new EquivocationError(url, symbol, statement, formatEvidence(evidence)));
  }

  #report(error: TicksealError): void {
    if (!this.#isClosed) this.#context.reportError(error);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed) return resolve();
      const end = () => {
        cancel();
        this.#waiting.delete(end);
        resolve();
      };
      const cancel = this.#context.platform.schedule(end, Math.max(0, ms));
      this.#waiting.add(end);
    });
  }
}

/** Reads the delay that a service promises. */
async function promisedMsOf(service: RestService): Promise<number> {
  try {
    const { log } = parseForeignJson(await service.get(REST_PATHS.signers)) as {
      log?: { max_delay?: unknown };
    };
    const delayMs = Number(log?.max_delay) * 1_000;
    return delayMs > 0 ? Math.min(delayMs, PROMISE_MS_MAX) : PROMISE_MS_DEFAULT;
  } catch {
    return PROMISE_MS_DEFAULT;
  }
}

function inSeconds(ms: number): number {
  return Math.round(ms / 1_000);
}
