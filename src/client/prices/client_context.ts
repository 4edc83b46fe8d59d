import { ORACLE_ID_LENGTH } from '../../wire/signatures.js';
import { type TicksealError, UnreachableError } from '../connect/errors.js';
import { EventListeners } from '../connect/event_listeners.js';
import { FirstAnswer } from '../connect/first_answer.js';
import type { Fetch, Platform } from '../connect/platform.js';
import type { ConnectionOptions } from '../connect/reconnecting_socket.js';
import { RestService } from '../connect/rest_service.js';
import { readServiceUrl } from '../connect/service_url.js';
import { TokenSource } from '../connect/token_source.js';
import { requireSigners, type SignerSource } from '../verify/checks.js';
import type { PayloadReport } from '../verify/verify_payload.js';
import type { LoggedEvent, LogOptions } from './log_options.js';
import { Meanings } from './meanings.js';
import { PayloadVerifier } from './payload_verifier.js';
import { SignedMemory } from './signed_memory.js';
import type { StreamedType, Taxonomy } from './taxonomy.js';
import type { Tick } from './tick.js';
import type { GappedStream, MissedTicks } from './unread_ticks.js';

/** The state of a connection. `down`: another attempt follows. `ended`: no attempt follows. */
export type ConnectionState = 'open' | 'stale' | 'down' | 'ended';

/** A change of the connection to one service. */
export interface StateEvent {
  /** The base address of the service, as in `urls`. */
  readonly url: string;
  /**
   * The new state. `open`: the connection is up. `stale`: nothing arrives, and `down` follows. `down`: there is no connection,
   * and another attempt follows. `ended`: the service refuses this client, and no attempt follows.
   */
  readonly state: ConnectionState;
  /** The reason in a sentence; empty for `open`. */
  readonly reason: string;
}

/** The report about one payload of a stream. */
export interface ReportEvent {
  /** The base address of the service that sent the payload. */
  readonly url: string;
  /** The outcome of the checks. */
  readonly report: PayloadReport;
  /** The payload as the service sent it, for {@link verifyPayload} and for contracts. */
  readonly hex: string;
}

/** The taxonomy of a service: the assets and keys of the service. */
export interface TaxonomyEvent {
  /** The base address of the service. */
  readonly url: string;
  /** The taxonomy from the service. */
  readonly taxonomy: Taxonomy;
}

/** A time in which a stream may have missed ticks. No connection of the stream delivered all payloads of this time. */
export interface GapEvent {
  /** The symbols of the stream. */
  readonly symbols: readonly string[];
  /** The time of the last payload before the gap, in UNIX nanoseconds. */
  readonly fromNs: bigint;
  /** The time of the first payload after the gap, in UNIX nanoseconds. */
  readonly toNs: bigint;
}

/** The options of {@link createClient}: the services, the login, and the keys that may sign. */
export interface ClientOptions {
  /**
   * Base addresses, `https://` or `wss://`, of services that sign with the same keys; at most 8. A stream connects to all
   * services and takes each price from the service that sends it first. A request takes the first answer.
   */
  readonly urls: string | readonly string[];
  /** The access token, as issued. Default: no token; then only methods without a login work. */
  readonly token?: string | undefined;
  /**
   * A function that returns the token, instead of `token`. The client calls the function before the first connection, and again after a
   * service refused the token. Default: none; then the token never changes.
   */
  readonly getToken?: (() => string | Promise<string>) | undefined;
  /**
   * The addresses (and Stark keys) that may sign. Data that other keys signed never becomes a price. With `'unchecked'` every
   * price is only `recovered`, because anyone can make a key and sign with it. For signers that change, pass a function: the
   * client calls it for each payload and each aggregate.
   */
  readonly signers: SignerSource;
  /**
   * Streaming IDs by symbol, pinned by hand, for services without signed mappings. The client then knows only these symbols, under every
   * taxonomy ID, and a service's list with other IDs is an error. `BTCUSD` means the EVM asset; a Stark asset is written
   * `stark BTCUSD`. Default: none; then the IDs are those that the signers have signed.
   */
  readonly ids?: Readonly<Record<string, number>> | undefined;
  /** The service's own oracle ID, 5 ASCII characters. Default: none; then the client verifies no Stark aggregates. */
  readonly oracleId?: string | undefined;
  /** Milliseconds, at least 100, after which a silent connection is replaced. Default: 4 to 5.5 s, by channel. */
  readonly staleAfterMs?: number | undefined;
  /**
   * The address of the module that verifies payloads in a Web Worker when there are many payloads; `false` for no worker.
   * Default: the file `verify_worker.js` beside this module. If the worker cannot be loaded, the main thread verifies the
   * payloads.
   */
  readonly worker?: string | false | undefined;
  /**
   * The number of payloads in a second up to which the main thread verifies all payloads. Default: 20; 0 starts the worker with
   * the first payload.
   */
  readonly inlinePerSecond?: number | undefined;
  /**
   * A function that sends the requests. A function can use a proxy, or keep the requests below the rate limit of a token that
   * several programs share. Default: the global `fetch`.
   */
  readonly fetch?: Fetch | undefined;
  /**
   * Looks up a sample of the received prices in the public log of the service. Each price of the sample causes a `logged` event or an
   * `error` event. The error is an {@link EquivocationError} when the log contradicts the price. Only for {@link createClient}.
   * Default: none.
   */
  readonly log?: LogOptions | undefined;
}

/** The events of a client, by name. {@link Client} passes each event to the listeners that `on` added. */
export type ClientEvents = {
  /** A connection came up or was lost. */
  readonly state: StateEvent;
  /** A payload of a stream was verified, or failed. The ticks of the payload follow. */
  readonly report: ReportEvent;
  /**
   * A stream may have missed ticks: it was without a connection, it dropped payloads of a backlog after a stall, or payloads failed
   * their checks. The stream's first tick after the gap follows. On a fixed channel the client emits no event when no tick lies in the
   * gap. On `real_time` each time without a connection is a gap.
   */
  readonly gap: GapEvent;
  /** A stream has read the taxonomy and accepted its mapping of IDs. Later ticks belong to its assets. */
  readonly taxonomy: TaxonomyEvent;
  /** A price of the sample was found in the public log: see the option `log`. */
  readonly logged: LoggedEvent;
  /**
   * An error that no caller waits for: a service that does not answer, once until its connection is up again; a price that failed its check,
   * an unsigned mapping of IDs, an unreadable message, an asset that was removed, two values that one key signed for the same asset and time.
   */
  readonly error: TicksealError;
};

const URLS_MAX = 8;
const STALE_AFTER_MS_MIN = 100;

/** The state that all parts of a client share. */
export class ClientContext {
  readonly options: ClientOptions;
  readonly platform: Platform;
  readonly services: readonly RestService[];
  readonly requests: FirstAnswer;
  readonly verifier: PayloadVerifier;
  readonly listeners = new EventListeners<ClientEvents>();
  readonly meanings: Meanings;
  /** Compares payloads and aggregates with others of the same time. */
  readonly memory: SignedMemory;
  /** Reads the ticks that a stream missed; absent in a client that only streams, because it cannot verify aggregates. */
  readMissed: ((gap: GapEvent, stream: GappedStream) => MissedTicks) | undefined;
  /** Looks up received prices in the public log; absent without the option `log`. */
  sample: { received(price: Tick, signatureType?: StreamedType): void } | undefined;
  /** Streams and publishers that are not closed. */
  readonly open = new Set<{ close(): Promise<void> }>();

  /** @throws TypeError or RangeError for wrong options */
  constructor(options: ClientOptions, defaults: Platform) {
    const { signers, fetch = defaults.fetch } = options;
    const platform = { ...defaults, fetch };
    const urls = typeof options.urls === 'string' ? [options.urls] : options.urls;
    requireUrls(urls);
    if (typeof signers !== 'function') requireSigners(signers);
    requireOracleId(options.oracleId);
    if (options.token !== undefined && options.getToken !== undefined)
      throw new TypeError('token and getToken exclude each other');
    if (options.staleAfterMs !== undefined && !(options.staleAfterMs >= STALE_AFTER_MS_MIN))
      throw new RangeError(`staleAfterMs must be at least ${STALE_AFTER_MS_MIN}`);
    const tokens = new TokenSource(options.token, options.getToken);
    this.options = options;
    this.platform = platform;
    this.services = urls.map((url) => new RestService(url, platform, tokens));
    this.requests = new FirstAnswer(this.services, platform);
    this.meanings = new Meanings(signers, options.ids, (error) => this.reportError(error));
    this.verifier = new PayloadVerifier(signers, platform, options.worker, options.inlinePerSecond);
    this.memory = new SignedMemory({
      verifier: this.verifier,
      steadyMs: platform.steadyMs,
      onError: (error) => this.reportError(error),
    });
  }

  /** The keys and options for the checks of aggregates. */
  get trust() {
    const { signers, oracleId } = this.options;
    return { signers, oracleId, recover: this.platform.recoverAddress };
  }

  /** Returns the options for a WebSocket of a service. The states of that WebSocket become events of the client. */
  connectionTo(service: RestService): ConnectionOptions {
    const { openSocket, schedule } = this.platform;
    const report = (state: ConnectionState, reason: string) =>
      this.listeners.emit('state', { url: service.url, state, reason });
    // The loss of a connection is no error. The first attempt without an answer is an error, and the attempts after it are not.
    let answers: 'up' | 'lost' | 'absent' = 'lost';
    return {
      url: service.socketUrl,
      login: service.openLogin(),
      openSocket,
      schedule,
      staleAfterMs: this.options.staleAfterMs,
      onUp: () => {
        answers = 'up';
        report('open', '');
      },
      onStale: (silentMs) => report('stale', `nothing arrived for ${silentMs} ms`),
      onDown: ({ reason, httpStatus, final }) => {
        report(final ? 'ended' : 'down', reason);
        if (final || httpStatus !== undefined) return;
        const isFirst = answers === 'lost';
        answers = answers === 'up' ? 'lost' : 'absent';
        if (isFirst) this.reportError(new UnreachableError(service.url, reason));
      },
    };
  }

  /** Reports an error that no caller waits for. */
  reportError(error: TicksealError): void {
    this.listeners.emit('error', error);
  }

  /** Ends all open streams and publishers. Resolves when their connections are closed. */
  async close(): Promise<void> {
    const closed = [...this.open].map((one) => one.close());
    this.verifier.close();
    await Promise.all(closed);
  }
}

function requireOracleId(oracleId: unknown): void {
  if (oracleId === undefined) return;
  if (typeof oracleId !== 'string') throw new TypeError('oracleId must be text');
  if (!/^[\x20-\x7e]*$/.test(oracleId) || oracleId.length !== ORACLE_ID_LENGTH)
    throw new RangeError(`oracleId must be ${ORACLE_ID_LENGTH} ASCII characters`);
}

function requireUrls(urls: readonly string[]): void {
  if (!Array.isArray(urls)) throw new TypeError('urls must be an address or a list of addresses');
  if (urls.length === 0 || urls.length > URLS_MAX)
    throw new RangeError(`urls must name 1 to ${URLS_MAX} services`);
  for (const url of urls) {
    if (typeof url !== 'string') throw new TypeError('urls must be texts');
    if (readServiceUrl(url, 'http') === undefined)
      throw new RangeError(
        `urls: "${schemeAndHost(url)}" is not an address such as https://prices.example.com`,
      );
  }
  if (new Set(urls).size < urls.length) throw new RangeError('urls names a service twice');
}

/** Returns the part of an address that may be shown. The rest may contain a password or a token. */
function schemeAndHost(url: string): string {
  const [, scheme, host, rest] = /^([a-z]+:\/\/)?(?:[^/?#]*@)?([^/?#]*)(.*)$/is.exec(url)!;
  // If an @ follows, the apparent host may be the start of a password that contains a slash.
  return (scheme ?? '') + (rest!.includes('@') ? '…' : host);
}
