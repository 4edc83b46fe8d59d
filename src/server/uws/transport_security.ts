import type { RestResponse } from '../http/rest_exchange.js';
import type { ListenOptions } from './app.js';

/** Makes browsers use TLS with this host for a year (RFC 6797). */
const TRANSPORT_SECURITY = ['Strict-Transport-Security', 'max-age=31536000'] as const;

/** Adds the header to a response of a listener that uses TLS. */
export function withTransportSecurity({ tls }: ListenOptions, response: RestResponse): RestResponse {
  return tls === undefined ? response : { ...response, headers: [...response.headers, TRANSPORT_SECURITY] };
}
