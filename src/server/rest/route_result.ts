/** The result of a route: the JSON text of `data`, the whole body of a raw route, an error, or a result that comes later. */
export type RouteResult = RouteAnswer | RouteParts | RouteError | LateRouteResult;

export interface RouteAnswer {
  readonly data: string;
  /**
   * Returns true while the same request would have the same answer. An answer with this function is kept for later requests
   * together with the function. So the function should hold only the values that the function compares.
   */
  readonly isCurrent?: () => boolean;
}

export interface RouteError {
  readonly status: 400 | 403 | 404 | 410 | 429 | 500 | 503;
  readonly error: string;
  /** With 410: the time from which there are answers; absent while there are none. */
  readonly keptFromNs?: bigint | undefined;
  /** The times between which the past is damaged. */
  readonly damaged?: { readonly firstNs: bigint; readonly lastNs: bigint } | undefined;
  /** The headers of the answer. */
  readonly headers?: StreamedAnswer['headers'];
}

/** An answer in the parts of its text. It is not kept for later requests. */
export interface RouteParts {
  readonly parts: readonly Uint8Array[];
}

/** The result of a route that reads files, or works for long. It is not kept for later requests. */
export interface LateRouteResult {
  readonly later: Promise<RouteAnswer | RouteParts | RouteError | StreamedAnswer>;
}

/** An answer that is made while its reader reads it. */
export interface StreamedAnswer {
  readonly contentType: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Makes the parts of the body. Each is made when it is asked for. */
  open(pay: PayRows): AsyncIterable<Uint8Array>;
}

/** Pays for rows out of the caller's budget. @returns false when the budget is used up for now, and nothing was paid */
export type PayRows = (rows: number) => boolean;
