import type { LoginHeaders } from '../../prices/publisher_login.js';
import type { PartedBody } from './parted_body.js';

/** A request as routes receive it. The received bytes are no longer available. */
export interface RestRequest {
  /** The method as received, in upper or lower case. */
  readonly method: string;
  readonly path: string;
  /** The text after `?`, not decoded. */
  readonly query: string;
  /** All `Authorization` headers. */
  readonly authorization: readonly string[];
  /** All headers of the login by signature. */
  readonly login: LoginHeaders;
  /** The address of the peer, which is a client or a proxy. A handler must read the address before the handler returns. */
  readonly address: string;
  /** All `X-Forwarded-For` headers, in order. */
  readonly forwardedFor: readonly string[];
  /** The origin of the requesting web page. Only browsers send an origin. */
  readonly origin?: string | undefined;
  /** The host and port of the request. */
  readonly host?: string | undefined;
  /** The method for which a browser asks permission: `Access-Control-Request-Method`. */
  readonly preflightMethod?: string | undefined;
  /** The subprotocols that a request for a WebSocket offers. */
  readonly protocols?: readonly string[] | undefined;
  /** The last `Accept-Encoding` header. The next field has the last `If-None-Match` header. */
  readonly acceptEncoding?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  /** The ID of the last event that the client of a stream received. */
  readonly lastEventId?: string | undefined;
  /** True when the request announces a body. */
  readonly hasBody: boolean;
  /** The body, if the path takes one; of a stream of events, its assets and the ID of its last event. */
  readonly body?: string;
  /** The fault of the request's headers. */
  readonly fault?: string | undefined;
  /** The answer to an upgrade request that lacks a required header. */
  readonly upgradeFault?: RestResponse | undefined;
}

export interface RestResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | Uint8Array | PartedBody;
  /** The content type. Default: `application/json`. */
  readonly contentType?: string;
  /** The parts of a long body, in place of `body`. The route makes each part when the writer requests the part. */
  readonly parts?: AsyncIterable<Uint8Array>;
  readonly closeConnection?: boolean;
  /**
   * True for an answer to everyone, which no token was needed for: its own headers say how long caches may keep it. The head of every
   * other answer keeps it out of shared caches.
   */
  readonly isPublic?: true;
  /** The caller whose request rate was charged for this request; absent if no rate was charged. */
  readonly payer?: string;
  /**
   * The answer of a route that must wait. Its status and body replace the status and body of this response, and its headers follow the
   * headers of this response. The promise does not reject.
   */
  readonly later?: Promise<LateAnswer>;
  /** Called when the client has disconnected before {@link later} has resolved. */
  readonly abandon?: (() => void) | undefined;
}

export type LateAnswer = Pick<RestResponse, 'status' | 'headers' | 'body' | 'contentType' | 'parts'>;

export function failure(status: number, error: string, headers: RestResponse['headers'] = []): RestResponse {
  return { status, headers, body: JSON.stringify({ error }) };
}
