/** The credentials of a connection. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** The subprotocols. If the login is a ticket, a subprotocol carries the ticket. */
  readonly protocols: readonly string[];
}

/** The source of credentials. */
export interface Login {
  /** Returns credentials for the next connection. @throws RefusedConnection when the service refused to give credentials. */
  credentials(): Promise<Credentials>;
  /** Handles a refused token. @returns true if the next credentials may differ. */
  renew(): boolean;
}

/** Creates a login with a token that never changes. */
export function tokenLogin(token: string | undefined): Login {
  const credentials = { headers: authorization(token), protocols: [] };
  return { credentials: () => Promise.resolve(credentials), renew: () => false };
}

/** Returns the header that carries a token. */
export function authorization(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Basic ${token}` };
}
