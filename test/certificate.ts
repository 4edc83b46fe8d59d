import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Makes `NAME.pem`, a certificate that signs itself and is good for 127.0.0.1, and its key `NAME.key`.
 * @returns why not, where there is no openssl.
 */
export function makeCertificate(dir: string, name: string): string | undefined {
  const options =
    '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -addext subjectAltName=IP:127.0.0.1';
  const files = ['-keyout', join(dir, `${name}.key`), '-out', join(dir, `${name}.pem`)];
  try {
    execFileSync('openssl', ['req', ...options.split(' '), '-subj', `/CN=${name}`, ...files], {
      stdio: 'ignore',
    });
    return undefined;
  } catch (error) {
    return `openssl: ${(error as Error).message}`;
  }
}
