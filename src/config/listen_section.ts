import type { AddressBlock } from '../model/address.js';
import { NS_PER_SECOND } from '../model/time.js';
import type { ConfigFile } from './schema.js';

/** The address of a listener. */
export interface ListenSection {
  readonly host: string;
  /** The port. With 0, the system chooses a free port. */
  readonly port: number;
}

/** The listener of `/livez`, `/readyz` and `/metrics`. */
export interface AdminConfig extends ListenSection {
  /** The host names that requests may name beside IP addresses, `localhost` and `host`. */
  readonly allowedHosts: readonly string[];
}

/** The listener of REST, streams and publishers. */
export interface ListenConfig extends ListenSection {
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  /** The number of threads that serve the sockets. */
  readonly threads: number | 'auto';
  /** The silence after which the service pings a WebSocket. */
  readonly pingIntervalSeconds: number;
  /** The proxies whose header `X-Forwarded-For` names the client. */
  readonly trustedProxies: readonly AddressBlock[];
  /** The origins of web pages that may read REST and open streams. `*` means all origins. */
  readonly allowedOrigins: readonly string[];
  /** The origins of other operators' services to which the live page may connect. */
  readonly pageOperators: readonly string[];
  /** The token that the live page gives to everybody; absent if readers need their own token. */
  readonly pageToken?: string;
}

/** Converts the section `listen`. */
export function toListen({ listen }: ConfigFile): ListenConfig {
  return {
    host: listen.host,
    port: listen.port,
    threads: listen.threads,
    pingIntervalSeconds: Number(listen.ping_interval / NS_PER_SECOND),
    trustedProxies: listen.trusted_proxies,
    allowedOrigins: listen.allowed_origins,
    pageOperators: listen.page_operators,
    ...(listen.page_token !== undefined && { pageToken: listen.page_token }),
    ...(listen.tls && { tls: { certFile: listen.tls.cert_file, keyFile: listen.tls.key_file } }),
  };
}

/** Converts the section `admin`. */
export function toAdmin({ admin }: ConfigFile): AdminConfig {
  return { host: admin.host, port: admin.port, allowedHosts: admin.allowed_hosts };
}
