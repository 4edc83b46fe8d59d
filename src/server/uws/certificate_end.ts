import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TlsFiles } from './app.js';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * Returns the time at which the first certificate of a chain expires, in UNIX seconds. Clients refuse the whole chain from then
 * on.
 * @param tls its `certFile` contains the certificate of the service and the certificates above it, as PEM
 * @returns `undefined` without TLS, and when the file cannot be read or contains no certificate
 */
export function certificateEndSeconds(tls: TlsFiles | undefined): number | undefined {
  if (tls === undefined) return undefined;
  try {
    const ends = (readFileSync(tls.certFile, 'utf8').match(PEM_CERTIFICATE) ?? []).map(
      (pem) => Date.parse(new X509Certificate(pem).validTo) / 1000,
    );
    return ends.length > 0 ? Math.min(...ends) : undefined;
  } catch {
    return undefined;
  }
}
