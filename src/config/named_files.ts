import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { Ed25519Key } from '../tlog/ed25519_key.js';
import { type LogPolicy, parsePolicy, policyFault } from '../tlog/log_policy.js';
import { formatVerifierKey } from '../tlog/verifier_key.js';
import {
  authorityWarnings,
  type CertificateFile,
  certificateWarnings,
  chainWarnings,
  dateWarnings,
  readCertificates,
} from './certificates.js';
import type { Config } from './config.js';
import type { Path, Problem } from './document.js';
import { type KeySource, mapSources } from './key_source.js';
import type { LogConfig } from './log_section.js';
import { type Environment, type PrivateKeys, readSecret } from './private_keys.js';
import { type ReadText, readPublicFile, readSecretFile } from './secret_file.js';
import { withCure } from './unreadable_file.js';

/** Makes all paths absolute. Relative paths start at the folder of the file. */
export function withAbsolutePaths(config: Config, baseDir: string): Config {
  const { listen, storage, log, streamLog, cluster } = config;
  const { log: logKey, streamLog: streamLogKey, ...keys } = config.keys;
  const absolute = (path: string) => resolve(baseDir, path);
  const source = (key: KeySource) => ('file' in key ? { file: absolute(key.file) } : key);
  const files = <T extends object>(paths: T) =>
    Object.fromEntries(Object.entries(paths).map(([key, path]) => [key, absolute(path)])) as T;
  const withPolicy = (section: LogConfig) => ({
    ...section,
    ...(section.policyFile !== undefined && { policyFile: absolute(section.policyFile) }),
  });
  return {
    ...config,
    listen: { ...listen, ...(listen.tls && { tls: files(listen.tls) }) },
    keys: {
      ...Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, mapSources(key, source)])),
      ...(logKey && { log: source(logKey) }),
      ...(streamLogKey && { streamLog: source(streamLogKey) }),
    },
    ...(config.announcementsFile && { announcementsFile: absolute(config.announcementsFile) }),
    storage: { ...storage, dir: absolute(storage.dir) },
    ...(log && { log: withPolicy(log) }),
    ...(streamLog && { streamLog: withPolicy(streamLog) }),
    ...(cluster && {
      cluster: {
        ...cluster,
        ...(cluster.credentials && { credentials: source(cluster.credentials) }),
        ...(cluster.tls && { tls: files(cluster.tls) }),
      },
    }),
  };
}

/** Checks the TLS and credentials files that a configuration with absolute paths names. */
export function namedFileProblems({ listen, cluster }: Config, env: Environment): Problem[] {
  const problems = listen.tls === undefined ? [] : tlsProblems(['listen', 'tls'], listen.tls);
  if (cluster?.tls) problems.push(...tlsProblems(['cluster', 'tls'], cluster.tls));
  if (cluster?.credentials) {
    const read = readSecret(['cluster', 'credentials'], cluster.credentials, '/', env);
    if ('message' in read) problems.push(read);
  }
  return problems;
}

/** Checks the policy of the public logs. @param keys the keys of the configuration */
export function policyProblems({ log, streamLog }: Config, keys: PrivateKeys): Problem[] {
  const path: Path = ['log', 'policy', 'file'];
  const logs = [
    { section: log, seed: keys.log },
    { section: streamLog, seed: keys.streamLog },
  ];
  for (const { section, seed } of logs) {
    if (section?.policyFile === undefined) continue;
    const read = readPolicyFile(section.policyFile);
    if (!('policy' in read)) return [{ path, message: read.message }];
    const fault =
      seed && policyFault(read.policy, formatVerifierKey(new Ed25519Key(seed).logKey(section.origin)));
    if (fault !== undefined) return [{ path, message: `${section.policyFile} ${fault}` }];
  }
  return [];
}

/**
 * Finds certificates that clients or servers refuse, in the files of a configuration without problems. The results are warnings: a
 * service with an expired certificate still serves the clients that do not check it.
 */
export function namedFileWarnings({ listen, cluster }: Config, nowMs: number): Problem[] {
  const [own, node, authority] = [listen.tls?.certFile, cluster?.tls?.certFile, cluster?.tls?.caFile];
  const ownFile = certificateFile(['listen', 'tls', 'cert_file'], own);
  return [
    ...certificateWarnings(ownFile, nowMs),
    ...chainWarnings(ownFile),
    // NATS servers know the authority of the nodes, so a node's certificate needs no chain.
    ...certificateWarnings(certificateFile(['cluster', 'tls', 'cert_file'], node), nowMs),
    ...authorityWarnings(certificateFile(['cluster', 'tls', 'ca_file'], authority), nowMs),
  ];
}

/** Finds the certificates of a configuration that have expired, are not valid yet, or end soon. */
export function certificateDates({ listen, cluster }: Config, nowMs: number): Problem[] {
  const own = certificateFile(['listen', 'tls', 'cert_file'], listen.tls?.certFile);
  const node = certificateFile(['cluster', 'tls', 'cert_file'], cluster?.tls?.certFile);
  return [...dateWarnings(own, nowMs), ...dateWarnings(node, nowMs)];
}

/** Reads the certificates of a file. The file may have changed since its check; an unreadable file then has no certificates. */
function certificateFile(path: Path, file = ''): CertificateFile {
  const read = readPublicFile(file);
  try {
    return { path, file, certificates: 'text' in read ? readCertificates(read.text) : [] };
  } catch {
    return { path, file, certificates: [] };
  }
}

/** Reads the policy of the public log. */
function readPolicyFile(file: string): { readonly policy: LogPolicy } | { readonly message: string } {
  const read = readPublicFile(file);
  if ('message' in read) return read;
  try {
    return { policy: parsePolicy(read.text) };
  } catch (error) {
    return { message: `${file} is not a policy: ${(error as Error).message}` };
  }
}

interface NamedTlsFiles {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** The contents that a missing file must have. */
const TLS_CURES: Readonly<Record<string, string>> = {
  ca_file: 'it must hold the certificate of the authority in PEM',
  cert_file: 'it must hold the certificate and those of its issuers in PEM',
  key_file: 'it must hold the private key of the certificate in PEM',
};

/** Checks that the files exist, that only the owner can use the key, and that TLS can start with the files. */
function tlsProblems(at: Path, { caFile, certFile, keyFile }: NamedTlsFiles): Problem[] {
  const texts = {
    ...(caFile !== undefined && { ca_file: readPublicFile(caFile) }),
    ...(certFile !== undefined && { cert_file: readPublicFile(certFile) }),
    ...(keyFile !== undefined && { key_file: readSecretFile(keyFile) }),
  };
  const problems = Object.entries(texts).flatMap(([key, read]): Problem[] =>
    'message' in read ? [{ path: [...at, key], message: withCure(read.message, TLS_CURES[key]!) }] : [],
  );
  if (problems.length > 0) return problems;
  // The code converts the texts to buffers, because TLS would ignore an empty text.
  const bytes = (read?: ReadText) => (read && 'text' in read ? Buffer.from(read.text) : undefined);
  const authority = texts.ca_file && 'text' in texts.ca_file ? texts.ca_file.text : undefined;
  // TLS itself ignores an invalid authority.
  if (authority !== undefined && !holdsCertificates(authority))
    return [{ path: [...at, 'ca_file'], message: `${caFile} holds no certificate` }];
  try {
    createSecureContext({ cert: bytes(texts.cert_file), key: bytes(texts.key_file) });
    return [];
  } catch {
    const message = `TLS cannot start with ${certFile} and ${keyFile}: are they a certificate and its key?`;
    return [{ path: [...at, 'cert_file'], message }];
  }
}

function holdsCertificates(pem: string): boolean {
  try {
    return readCertificates(pem).length > 0;
  } catch {
    return false;
  }
}
