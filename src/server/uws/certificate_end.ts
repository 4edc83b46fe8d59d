import { readFileSync } from 'node:fs';
import { readCertificates } from '../../config/certificates.js';
import type { TlsFiles } from './app.js';

/**
 * Returns the time at which the first certificate of a chain expires, in UNIX seconds. Clients refuse the whole chain after this
 * time.
 * @param tls its `certFile` contains the certificate of the service and the intermediate certificates, as PEM
 * @returns `undefined` without TLS, and when the file cannot be read or contains no certificate
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
