import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Creates `NAME.pem`, a self-signed certificate for 127.0.0.1, and its key `NAME.key`.
 * @param newKey options of openssl for its key
 * @returns the reason if the certificate cannot be made, because openssl is missing
 */
export function makeCertificate(
  dir: string,
  name: string,
  newKey = 'ec -pkeyopt ec_paramgen_curve:P-256',
): string | undefined {
  const options = `-x509 -newkey ${newKey} -nodes -days 2 -addext subjectAltName=IP:127.0.0.1`;
  const files = ['-keyout', join(dir, `${name}.key`), '-out', join(dir, `${name}.pem`)];
  return openssl(['req', ...options.split(' '), '-subj', `/CN=${name}`, ...files]);
}

/** A certificate authority for tests. Clients trust the root, and an intermediate authority signs the certificates. */
export class TestAuthority {
  /** The error text when openssl is missing and no authority can be made. */
  readonly missing: string | undefined;
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
    this.missing = makeCertificate(dir, 'root') ?? this.#sign('intermediate', 'root', 30, 'CA:TRUE');
  }

  /** The root as PEM. */
  get root(): string {
    return readFileSync(join(this.#dir, 'root.pem'), 'utf8');
  }

  /**
   * Creates a certificate for 127.0.0.1. @returns the PEM of the certificate and of the intermediate authority, and the PEM of
   * its key
   */
  issue(name: string, days: number): { readonly chain: string; readonly key: string } {
    const failed = this.#sign(name, 'intermediate', days, 'CA:FALSE');
    if (failed !== undefined) throw new Error(failed);
    const read = (file: string) => readFileSync(join(this.#dir, file), 'utf8');
    return { chain: read(`${name}.pem`) + read('intermediate.pem'), key: read(`${name}.key`) };
  }

  #sign(name: string, by: string, days: number, constraint: string): string | undefined {
    const file = (suffix: string) => join(this.#dir, suffix);
    writeFileSync(file(`${name}.ext`), `basicConstraints=${constraint}\nsubjectAltName=IP:127.0.0.1\n`);
    const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'.split(' ');
    const request = ['-keyout', file(`${name}.key`), '-out', file(`${name}.csr`)];
    const signed = ['-CA', file(`${by}.pem`), '-CAkey', file(`${by}.key`), '-CAcreateserial'];
    return (
      openssl(['req', ...key, '-subj', `/CN=${name}`, ...request]) ??
      openssl([
        ...['x509', '-req', '-days', String(days), '-in', file(`${name}.csr`), '-out', file(`${name}.pem`)],
        ...['-extfile', file(`${name}.ext`), ...signed],
      ])
    );
  }
}

/** Runs openssl. @returns the reason if openssl fails */
function openssl(args: readonly string[]): string | undefined {
  try {
    execFileSync('openssl', args, { stdio: 'ignore' });
    return undefined;
  } catch (error) {
    return `openssl: ${(error as Error).message}`;
  }
}
