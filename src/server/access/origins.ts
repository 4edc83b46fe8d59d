import { ANY_ORIGIN, subdomainsOf } from '../../config/allowed_origin.js';
import type { Config } from '../../config/config.js';
import { OwnHosts } from '../http/own_hosts.js';
import type { RestRequest } from '../http/rest_exchange.js';

/** The part of a configuration that determines the allowed origins. */
export interface OriginsConfig {
  readonly service: Pick<Config['service'], 'publicUrl'>;
  readonly listen: Pick<Config['listen'], 'host' | 'tls' | 'allowedOrigins'>;
}

/** The web pages that may use the service: pages of the origins in `listen.allowed_origins`, and the service's own pages. */
export class Origins {
  readonly #allowed: ReadonlySet<string>;
  readonly #subdomains: readonly { readonly scheme: string; readonly end: string }[];
  readonly #scheme: 'http' | 'https';
  readonly #ownHosts: OwnHosts;
  readonly #publicOrigin: string | undefined;

  constructor({ service, listen }: OriginsConfig) {
    this.#allowed = new Set(listen.allowedOrigins.filter((text) => subdomainsOf(text) === undefined));
    this.#subdomains = listen.allowedOrigins.flatMap((text) => subdomainsOf(text) ?? []);
    this.#scheme = listen.tls === undefined ? 'http' : 'https';
    this.#ownHosts = new OwnHosts([listen.host]);
    // The scheme of a WebSocket corresponds to a scheme of HTTP: wss to https.
    this.#publicOrigin = service.publicUrl && new URL(service.publicUrl.replace(/^ws/, 'http')).origin;
  }

  /** True when the configuration may allow pages of other origins. */
  get allowsAny(): boolean {
    return this.#allowed.size + this.#subdomains.length > 0;
  }

  /** @returns the value of `Access-Control-Allow-Origin` for a page's origin, or `undefined` if its pages may not read REST */
  allowedAs(origin: string | undefined): string | undefined {
    if (origin === undefined) return undefined;
    if (this.#allowed.has(ANY_ORIGIN)) return ANY_ORIGIN;
    return this.#allowed.has(origin) || this.#isSubdomain(origin) ? origin : undefined;
  }

  #isSubdomain(origin: string): boolean {
    return this.#subdomains.some(({ scheme, end }) => {
      const name = origin.slice(scheme.length, -end.length);
      return origin === `${scheme}${name}${end}` && /^[a-z\d_-]+(?:\.[a-z\d_-]+)*$/.test(name);
    });
  }

  /** Returns whether the requesting page may open a stream. A request without `Origin` does not come from a page. */
  mayOpenStream({ origin, host }: Pick<RestRequest, 'origin' | 'host'>): boolean {
    return origin === undefined || this.allowedAs(origin) !== undefined || this.#isOwn(origin, host);
  }

  /**
   * Recognises the service's own pages, whose origin is `service.public_url` or the host of the request. This host must be one of
   * {@link OwnHosts}.
   */
  #isOwn(origin: string, host: string | undefined): boolean {
    if (origin === this.#publicOrigin) return true;
    const base = `${this.#scheme}://${host}`;
    if (host === undefined || !URL.canParse(base)) return false;
    const url = new URL(base);
    return url.origin === origin && this.#ownHosts.has(url);
  }
}
