/** The service refused a connection, or to give its credentials. The message is the service's reason. */
export class RefusedConnection extends Error {
  constructor(
    /** Of HTTP. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Why there is no connection. */
export interface ConnectFailure {
  readonly reason: string;
  /** Of HTTP, when the server refused the connection and the socket tells. */
  readonly status: number | undefined;
}

/** What a socket reports about an error; browsers report nothing. */
export interface ErrorEventLike {
  readonly message?: string;
  readonly error?: { readonly code?: string };
}

/** How the package `ws` words a refused upgrade by itself. */
const REFUSED = /server response: (\d{3})/;

/** Reads the error of a socket. */
export function failureOf({ message, error }: ErrorEventLike): ConnectFailure {
  const reason = message || error?.code || 'the connection failed';
  if (error instanceof RefusedConnection) return { reason, status: error.status };
  const status = REFUSED.exec(reason)?.[1];
  return { reason, status: status === undefined ? undefined : Number(status) };
}

/** The `error` of an error's body, if it has one. */
export function errorOf(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}
