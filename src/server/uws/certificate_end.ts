import { readFileSync } from 'node:fs';
import { readCertificates } from '../../config/certificates.js';
import type { TlsFiles } from './app.js';

/**
 * Returns the time at which the first certificate of a chain ends, in UNIX seconds: clients refuse the whole chain from then on.
 * @param tls its `certFile` holds the certificate of the service and those above it, as PEM
 * @returns `undefined` without TLS, and when the file cannot be read or holds no certificate
 */
export function certificateEndSeconds(tls: TlsFiles | undefined): number | undefined {
  if (tls === undefined) return undefined;
  try {
    const ends = readCertificates(readFileSync(tls.certFile, 'utf8')).map(
      ({ validTo }) => Date.parse(validTo) / 1000,
    );
    return ends.length > 0 ? Math.min(...ends) : undefined;
  } catch {
    return undefined;
  }
}
