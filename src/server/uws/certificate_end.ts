import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TlsFiles } from './app.js';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * Returns the time at which the first certificate of a chain ends, in UNIX seconds: clients refuse the whole chain from then on.
 * @param tls its `certFile` holds the certificate of the service and those above it, as PEM
 * @returns `undefined` without TLS, and when the file cannot be read or holds no certificate
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
