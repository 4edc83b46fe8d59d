/** What a connection is let in with. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** Subprotocols, of which one carries a ticket. */
  readonly protocols: readonly string[];
}

/** Lets connections in. */
export interface Login {
  /** For the next connection. @throws RefusedConnection when the service refused to give them. */
  credentials(): Promise<Credentials>;
  /** The service refused the token. @returns whether the next credentials may be others. */
  renew(): boolean;
}

/** Logs in with one token and never another. */
export function tokenLogin(token: string | undefined): Login {
  const credentials = { headers: authorization(token), protocols: [] };
  return { credentials: () => Promise.resolve(credentials), renew: () => false };
}

/** The header that carries a token. */
export function authorization(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Basic ${token}` };
}
