import { spawnSync } from 'node:child_process';
import { isIP } from 'node:net';
import { join } from 'node:path';

const DAYS = '3650';
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/**
 * Creates a certificate authority, `ca.pem` and `ca.key`, with the program openssl.
 * @throws Error when openssl is missing or fails
 */
export function makeAuthority(dir: string): void {
  const files = ['-keyout', join(dir, 'ca.key'), '-out', join(dir, 'ca.pem')];
  openssl(['req', '-x509', ...NEW_KEY, '-days', DAYS, '-subj', '/CN=tickseal NATS servers', ...files]);
}

/** Creates `server.pem` and `server.key` of a NATS server in its folder. @param caDir the folder of the authority */
export function makeServerCertificate(caDir: string, dir: string, host: string): void {
  const name = `subjectAltName=${isIP(host) === 0 ? 'DNS' : 'IP'}:${host}`;
  const files = ['-keyout', join(dir, 'server.key'), '-out', join(dir, 'server.pem')];
  const by = ['-CA', join(caDir, 'ca.pem'), '-CAkey', join(caDir, 'ca.key')];
  const extensions = ['-addext', name, '-addext', 'basicConstraints=critical,CA:FALSE'];
  openssl([
    'req',
    '-x509',
    ...NEW_KEY,
    '-days',
    DAYS,
    '-subj',
    `/CN=${host}`,
    ...extensions,
    ...by,
    ...files,
  ]);
}

function openssl(args: readonly string[]): void {
  const { error, status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (error !== undefined)
    throw new Error('certificates need the program openssl 3; --no-tls makes a cluster without certificates');
  if (status !== 0) throw new Error(`openssl cannot make a certificate: ${stderr.trim().split('\n').at(-1)}`);
}
