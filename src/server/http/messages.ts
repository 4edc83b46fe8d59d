import type { LoginHeaders } from '../../ingest/login.js';

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
