import type { LoginHeaders } from '../../ingest/publisher_login.js';

/** A request as the routes see it; the bytes are gone. */
export interface RestRequest {
  /** As it came, in any case. */
  readonly method: string;
  readonly path: string;
  /** The text behind `?`, undecoded. */
  readonly query: string;
  /** Every `Authorization` header. */
  readonly authorization: readonly string[];
  /** Every header of a login by signature. */
  readonly login: LoginHeaders;
  /** The address of who called, a client or a proxy; to be read at once. */
  readonly address: string;
  /** Every `X-Forwarded-For` header, in order. */
  readonly forwardedFor: readonly string[];
  /** Of the web page that asks; what is no browser sends none. */
  readonly origin?: string | undefined;
  /** The host and port that the client called. */
  readonly host?: string | undefined;
  /** The method of the request for which a browser asks leave: `Access-Control-Request-Method`. */
  readonly preflightMethod?: string | undefined;
  /** The subprotocols that a request for a WebSocket offers. */
  readonly protocols?: readonly string[] | undefined;
  /** `Accept-Encoding` and `If-None-Match`, the last one of each. */
  readonly acceptEncoding?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  /** Whether it announces a body. */
  readonly hasBody: boolean;
  /** The body, where the path takes one. */
  readonly body?: string;
  /** What is wrong with its headers. */
  readonly fault?: string | undefined;
  /** What to answer a request for a WebSocket that lacks something for one. */
  readonly upgradeFault?: RestResponse | undefined;
}

export interface RestResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | Uint8Array;
  /** `application/json` when left out. */
  readonly contentType?: string;
  readonly closeConnection?: boolean;
}

export function failure(status: number, error: string, headers: RestResponse['headers'] = []): RestResponse {
  return { status, headers, body: JSON.stringify({ error }) };
}
