import { isIP } from 'node:net';

/**
 * Recognises the hosts that a request may name. A host is an IP address, `localhost`, or one of `names`. Anybody could let another name
 * resolve to this machine, and a web page of that name could then send requests to this machine (DNS rebinding).
 */
export class OwnHosts {
  readonly #names: ReadonlySet<string>;

  /** @param names host names without a port */
  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', ...names].map((name) => name.toLowerCase()));
  }

  /** @param url a URL with the host as its authority */
  has({ hostname }: URL): boolean {
    return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0 || this.#names.has(hostname);
  }

  /** @param host a `Host` header, with or without a port */
  hasHeader(host: string): boolean {
    const url = `http://${host}`;
    return URL.canParse(url) && this.has(new URL(url));
  }
}
