import type { TicksealError } from '../connect/errors.js';
import { EventListeners } from '../connect/event_listeners.js';
import { FirstAnswer } from '../connect/first_answer.js';
import type { Fetch, Platform } from '../connect/platform.js';
import type { ConnectionOptions } from '../connect/reconnecting_socket.js';
import { RestService } from '../connect/rest_service.js';
import { TokenSource } from '../connect/token_source.js';
import { requireSigners, type SignerSource } from '../verify/checks.js';
import type { PayloadReport } from '../verify/verify_payload.js';
import { PayloadVerifier } from './payload_verifier.js';
import type { Taxonomy } from './taxonomy.js';

/** `down`: another attempt follows. `ended`: none does. */
export type ConnectionState = 'open' | 'stale' | 'down' | 'ended';

/** What became of the connection to one service. */
export interface StateEvent {
  readonly url: string;
  /**
   * `stale`: nothing arrives any more, and `down` follows. `down`: there is no connection, and another attempt follows. `ended`:
   * the service refuses this client, and no attempt follows.
   */
  readonly state: ConnectionState;
  /** Empty for `open`. */
  readonly reason: string;
}

/** What the checks of one payload of a stream said. */
export interface ReportEvent {
  readonly url: string;
  readonly report: PayloadReport;
  /** The payload as the service sent it, for {@link verifyPayload} and for contracts. */
  readonly hex: string;
}

/** What one service says of its assets and keys. */
export interface TaxonomyEvent {
  readonly url: string;
  readonly taxonomy: Taxonomy;
}

export interface ClientOptions {
  /**
   * Base addresses, `https://` or `wss://`, of services that sign with the same keys; at most 8. Streams connect to all of them
   * and take whichever is first; requests take the first answer.
   */
  readonly urls: string | readonly string[];
  /** The access token. */
  readonly token?: string | undefined;
  /** Instead of {@link token}: asked at first, and again after a service refused the token. */
  readonly getToken?: (() => string | Promise<string>) | undefined;
  /**
   * The addresses (and Stark keys) that may sign: what others sign never becomes a price. Or `'unchecked'`: then every price is only
   * `recovered`, since anybody can make a key and sign with it. A function is asked for each payload and each aggregate, for signers that
   * change.
   */
  readonly signers: SignerSource;
  /** The service's own oracle ID, 5 ASCII characters: without it no Stark aggregate is verified. */
  readonly oracleId?: string | undefined;
  /** A connection on which nothing arrives for this time is given up and made again. Default: 4 to 5.5 s. */
  readonly staleAfterMs?: number | undefined;
  /**
   * The address of the module that verifies payloads in a Web Worker when there are many; `false` for no worker. Default: the
   * file `verify_worker.js` beside this module. Where it cannot be loaded, payloads are verified on the main thread.
   */
  readonly worker?: string | false | undefined;
  /** Payloads a second up to which none is verified in the worker. Default: 20; with 0 it is started for the first one. */
  readonly inlinePerSecond?: number | undefined;
  /** Sends the requests instead of the global `fetch`: for a proxy, or to keep several programs below the rate limit of one token. */
  readonly fetch?: Fetch | undefined;
}

export type ClientEvents = {
  /** A connection came up or went away. */
  readonly state: StateEvent;
  /** A payload of a stream was verified, or failed. Ticks of it follow. */
  readonly report: ReportEvent;
  /** A stream has read the taxonomy. Later ticks are of these assets. */
  readonly taxonomy: TaxonomyEvent;
  /** What no caller waits for: prices that failed their check, unreadable messages, assets that went away. */
  readonly error: TicksealError;
};

const URLS_MAX = 8;
const STALE_AFTER_MS_MIN = 100;

/** What all parts of one client share. */
export class ClientContext {
  readonly options: ClientOptions;
  readonly platform: Platform;
  readonly services: readonly RestService[];
  readonly requests: FirstAnswer;
  readonly verifier: PayloadVerifier;
  readonly listeners = new EventListeners<ClientEvents>();
  /** Streams and publishers that are not closed. */
  readonly open = new Set<{ close(): Promise<void> }>();

  /** @throws TypeError or RangeError for wrong options */
  constructor(options: ClientOptions, defaults: Platform) {
    const { signers, fetch = defaults.fetch } = options;
    const platform = { ...defaults, fetch };
    const urls = typeof options.urls === 'string' ? [options.urls] : options.urls;
    requireUrls(urls);
    if (typeof signers !== 'function') requireSigners(signers);
    if (options.token !== undefined && options.getToken !== undefined)
      throw new TypeError('token and getToken exclude each other');
    if (options.staleAfterMs !== undefined && !(options.staleAfterMs >= STALE_AFTER_MS_MIN))
      throw new RangeError(`staleAfterMs must be at least ${STALE_AFTER_MS_MIN}`);
    const tokens = new TokenSource(options.token, options.getToken);
    this.options = options;
    this.platform = platform;
    this.services = urls.map((url) => new RestService(url, platform, tokens));
    this.requests = new FirstAnswer(this.services, platform);
    this.verifier = new PayloadVerifier(signers, platform, options.worker, options.inlinePerSecond);
  }

  /** How a WebSocket of a service is opened; what becomes of it is reported as events. */
  connectionTo(service: RestService): ConnectionOptions {
    const { openSocket, schedule } = this.platform;
    const report = (state: ConnectionState, reason: string) =>
      this.listeners.emit('state', { url: service.url, state, reason });
    return {
      url: service.socketUrl,
      login: service.openLogin(),
      openSocket,
      schedule,
      staleAfterMs: this.options.staleAfterMs,
      onUp: () => report('open', ''),
      onStale: (silentMs) => report('stale', `nothing arrived for ${silentMs} ms`),
      onDown: ({ reason, final }) => report(final ? 'ended' : 'down', reason),
    };
  }

  /** Reports what no caller waits for. */
  reportError(error: TicksealError): void {
    this.listeners.emit('error', error);
  }

  /** Ends everything that is open; resolves when its connections are closed. */
  async close(): Promise<void> {
    const closed = [...this.open].map((one) => one.close());
    this.verifier.close();
    await Promise.all(closed);
  }
}

function requireUrls(urls: readonly string[]): void {
  if (!Array.isArray(urls)) throw new TypeError('urls must be an address or a list of addresses');
  if (urls.length === 0 || urls.length > URLS_MAX)
    throw new RangeError(`urls must name 1 to ${URLS_MAX} services`);
  for (const url of urls) {
    if (typeof url !== 'string' || !/^(?:http|ws)s?:\/\/[^/?#@]+(?:\/[^?#@]*)?$/.test(url))
      throw new RangeError(
        `urls: "${schemeAndHost(url)}" is not an address such as https://prices.example.com`,
      );
  }
  if (new Set(urls).size < urls.length) throw new RangeError('urls names a service twice');
}

/** The part of an address that may be shown: the rest may hold a password or a token. */
function schemeAndHost(url: string): string {
  const [, scheme, host, rest] = /^([a-z]+:\/\/)?(?:[^/?#]*@)?([^/?#]*)(.*)$/is.exec(url)!;
  // With an @ further on, what looks like the host may be the start of a password with a slash in it.
  return (scheme ?? '') + (rest!.includes('@') ? '…' : host);
}
