import { isIP } from 'node:net';
import { ANY_ORIGIN } from '../../config/allowed_origin.js';
import type { Config } from '../../config/config.js';
import type { RestRequest } from '../http/rest_exchange.js';

/** What of a configuration says it. */
export interface OriginsConfig {
  readonly service: Pick<Config['service'], 'publicUrl'>;
  readonly listen: Pick<Config['listen'], 'host' | 'tls' | 'allowedOrigins'>;
}

/** Which web pages may use the service: those of `listen.allowed_origins` and its own. */
export class Origins {
  readonly #allowed: ReadonlySet<string>;
  readonly #scheme: 'http' | 'https';
  readonly #listenHost: string;
  readonly #publicOrigin: string | undefined;

  constructor({ service, listen }: OriginsConfig) {
    this.#allowed = new Set(listen.allowedOrigins);
    this.#scheme = listen.tls === undefined ? 'http' : 'https';
    this.#listenHost = listen.host;
    // The schemes of WebSockets are those of HTTP with other names: wss stands for https.
    this.#publicOrigin = service.publicUrl && new URL(service.publicUrl.replace(/^ws/, 'http')).origin;
  }

  /** Whether there may be pages of other origins. */
  get allowsAny(): boolean {
    return this.#allowed.size > 0;
  }

  /** @returns how `Access-Control-Allow-Origin` names a page's origin, or `undefined` where its pages may not read REST */
  allowedAs(origin: string | undefined): string | undefined {
    if (origin === undefined) return undefined;
    if (this.#allowed.has(ANY_ORIGIN)) return ANY_ORIGIN;
    return this.#allowed.has(origin) ? origin : undefined;
  }

  /** Whether the page that asks may open a stream. What sends no `Origin` is no page. */
  mayOpenStream({ origin, host }: Pick<RestRequest, 'origin' | 'host'>): boolean {
    return origin === undefined || this.allowedAs(origin) !== undefined || this.#isOwn(origin, host);
  }

  /**
   * A page of the service itself has the origin of `service.public_url`, or of the host that the request names. That host counts only
   * where nobody else can point it here: an IP address, `localhost`, or `listen.host`. Otherwise the owner of any other name could
   * have it resolve to this machine, and have pages of that name pass for the service's own (DNS rebinding).
   */
  #isOwn(origin: string, host: string | undefined): boolean {
    if (origin === this.#publicOrigin) return true;
    const base = `${this.#scheme}://${host}`;
    if (host === undefined || !URL.canParse(base)) return false;
    const url = new URL(base);
    return url.origin === origin && this.#isFixed(url.hostname);
  }

  #isFixed(hostname: string): boolean {
    const address = hostname.replace(/^\[(.*)\]$/, '$1');
    return isIP(address) !== 0 || hostname === 'localhost' || hostname === this.#listenHost.toLowerCase();
  }
}
