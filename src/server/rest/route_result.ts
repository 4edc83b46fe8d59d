/** The result of a route: the JSON text of `data`, the whole body of a raw route, an error, or a later result. */
export type RouteResult = RouteAnswer | RouteParts | RouteError | LateRouteResult;

interface Named {
  /** The requested assets that the answer leaves out; `undefined` for a request that does not ignore them. */
  readonly invalid?: readonly string[] | undefined;
}

export interface RouteAnswer extends Named {
  readonly data: string;
  /**
   * Returns true while the same request would have the same answer. The cache stores an answer with this function for later
   * requests. So the closure of this function should hold only the values that the function compares.
   */
  readonly isCurrent?: () => boolean;
}

export interface RouteError {
  /** The status 499 is for the metrics: the client has disconnected, and receives nothing. */
  readonly status: 400 | 403 | 404 | 410 | 429 | 499 | 500 | 503;
  readonly error: string;
  /** The time from which the service keeps the past, for status 410; absent while the service keeps nothing. */
  readonly keptFromNs?: bigint | undefined;
  /** The times between which the past is damaged. */
  readonly damaged?: { readonly firstNs: bigint; readonly lastNs: bigint } | undefined;
  /** The headers of the answer. */
  readonly headers?: StreamedAnswer['headers'];
}

/** An answer in the parts of its text. */
export interface RouteParts extends Named {
  readonly parts: readonly Uint8Array[];
  /** As in {@link RouteAnswer}. The cache stores the joined parts. */
  readonly isCurrent?: () => boolean;
}

/** The result of a route that reads files, or that works for a long time. The cache does not store such a result. */
export interface LateRouteResult {
  readonly later: Promise<RouteAnswer | RouteParts | RouteError | StreamedAnswer>;
  /** Called when nobody waits for the result any more. */
  readonly abandon?: () => void;
}

/** An answer that the route makes while the client reads it. */
export interface StreamedAnswer {
  readonly contentType: string;
  /** True for an answer that is sent compressed to clients that accept gzip. */
  readonly isText: boolean;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Makes the parts of the body. Each part is made when the writer requests the part. */
  open(pay: PayRows): AsyncIterable<Uint8Array>;
}

/** Pays for rows from the caller's budget. Resolves when the budget has enough for these rows and for those of earlier calls. */
export type PayRows = (rows: number) => Promise<void>;
