import { X509Certificate } from 'node:crypto';
import type { Path, Problem } from './document.js';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
/** The smallest size of an RSA key. Browsers and OpenSSL refuse smaller keys (CA/Browser Forum Baseline Requirements 6.1.5). */
const RSA_BITS_MIN = 2048;
const MONTH_MS = 30 * 86_400_000;

/** Reads the certificates of a PEM text, in the order of the text. @throws Error when a certificate is damaged */
export function readCertificates(pem: string): X509Certificate[] {
  return (pem.match(PEM_CERTIFICATE) ?? []).map((one) => new X509Certificate(one));
}

export interface CertificateFile {
  /** The place of the file's key in the configuration. */
  readonly path: Path;
  readonly file: string;
  readonly certificates: readonly X509Certificate[];
}

/** Finds the reasons why clients refuse the certificate of a server or node, or the certificate of one of its issuers. */
export function* certificateWarnings(
  { path, file, certificates }: CertificateFile,
  nowMs: number,
): Generator<Problem> {
  yield* dateWarnings({ path, file, certificates }, nowMs);
  for (const certificate of certificates) {
    const { modulusLength: bits = RSA_BITS_MIN } = certificate.publicKey.asymmetricKeyDetails ?? {};
    if (bits < RSA_BITS_MIN) {
      const message = `${file}: the certificate of ${nameOf(certificate.subject)} has an RSA key of ${bits} bits; clients refuse fewer than ${RSA_BITS_MIN}`;
      yield { path, message };
    }
  }
}

/** Finds the certificates that have expired, are not valid yet, or end soon. */
export function* dateWarnings(
  { path, file, certificates }: CertificateFile,
  nowMs: number,
): Generator<Problem> {
  for (const certificate of certificates) {
    const date = dateProblem(certificate, nowMs) ?? soonOver(certificate, nowMs);
    if (date !== undefined)
      yield { path, message: `${file}: the certificate of ${nameOf(certificate.subject)} ${date}` };
  }
}

/** Finds a chain that is broken or ends too early. */
export function* chainWarnings({ path, file, certificates }: CertificateFile): Generator<Problem> {
  for (const [index, certificate] of certificates.entries()) {
    const above = certificates[index + 1];
    if (above === undefined || isIssuedBy(certificate, above)) continue;
    const message = `${file}: certificate ${index + 2} (${nameOf(above.subject)}) did not issue certificate ${index + 1}, ${nameOf(certificate.issuer)} did; put each certificate before the one of its issuer`;
    yield { path, message };
  }
  const [only, ...above] = certificates;
  if (only === undefined || above.length > 0 || isIssuedBy(only, only)) return;
  const message = `${file} has no certificate of ${nameOf(only.issuer)}, who issued the one in it: clients refuse it, unless they trust that issuer itself; use the full chain`;
  yield { path, message };
}

/** Finds an authority whose certificates have all expired or end soon. An expired certificate among valid certificates is normal. */
export function authorityWarnings(source: CertificateFile, nowMs: number): Problem[] {
  const { certificates } = source;
  const isUsable = certificates.some(
    (one) => dateProblem(one, nowMs) === undefined && soonOver(one, nowMs) === undefined,
  );
  return isUsable ? [] : [...certificateWarnings(source, nowMs)];
}

function dateProblem({ validFrom, validTo }: X509Certificate, nowMs: number): string | undefined {
  const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
  if (toMs < nowMs) return `expired on ${dateText(toMs)}; clients refuse it`;
  return fromMs > nowMs
    ? `is valid only from ${dateText(fromMs)} on; until then clients refuse it`
    : undefined;
}

/** Returns the end of a certificate that should have been renewed: a month before it, or in the last third of a shorter life. */
function soonOver({ validFrom, validTo }: X509Certificate, nowMs: number): string | undefined {
  const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
  if (toMs - nowMs >= Math.min(MONTH_MS, (toMs - fromMs) / 3)) return undefined;
  return `ends on ${dateText(toMs)}; renew it before, because clients refuse it then`;
}

function dateText(atMs: number): string {
  return new Date(atMs).toISOString().replace('.000', '');
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Returns the common name of a subject or issuer. Without a common name, returns all names in one line. */
function nameOf(names: string): string {
  return /^CN=(.+)$/m.exec(names)?.[1] ?? names.replaceAll('\n', ', ');
}
