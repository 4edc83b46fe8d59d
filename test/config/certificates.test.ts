import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { readCertificates } from '../../src/config/certificates.js';
import { type LoadResult, loadConfig } from '../../src/config/load.js';
import { namedFileWarnings } from '../../src/config/named_files.js';
import { TestAuthority } from '../certificate.js';

const DAY_MS = 86_400_000;
const DATE = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ';

/** Loads a configuration with this certificate and key. */
function loaded(t: Test, chain: string, key: string): LoadResult & { readonly ok: true } {
  const dir = t.testdir({
    'config.yaml':
      'keys: { evm: { file: evm.hex } }\nlisten:\n  tls: { cert_file: cert.pem, key_file: key.pem }\n',
    'cert.pem': chain,
  });
  writeFileSync(join(dir, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  writeFileSync(join(dir, 'key.pem'), key, { mode: 0o600 });
  const result = loadConfig(join(dir, 'config.yaml'));
  if (!result.ok) throw new Error(result.errors.join('\n'));
  return result;
}

/** Returns the warnings about certificates at a time. */
function warningsAt(result: LoadResult & { readonly ok: true }, nowMs: number): string[] {
  return result.describe(namedFileWarnings(result.config, nowMs));
}

test('a certificate is checked with its date, its chain and its key', async (t) => {
  const dir = t.testdir({ ca: {} });
  const authority = new TestAuthority(join(dir, 'ca'));
  if (authority.missing !== undefined) {
    t.pass(`skipped: ${authority.missing}`);
    return;
  }
  const { chain, key } = authority.issue('prices', 2);
  const [leaf, above] = readCertificates(chain);

  await t.test('a whole chain within its dates has no warning', async (t) => {
    t.same(loaded(t, chain, key).warnings, []);
  });

  await t.test('the file and the date of an expired certificate are named', async (t) => {
    const result = loaded(t, chain, key);
    t.match(warningsAt(result, Date.now() + 3 * DAY_MS), [
      new RegExp(
        `config\\.yaml:3:10 listen\\.tls\\.cert_file: .*/cert\\.pem: the certificate of prices expired on ${DATE}; clients`,
      ),
    ]);
  });

  await t.test('so is one that ends in the last third of its life', async (t) => {
    t.match(warningsAt(loaded(t, chain, key), Date.now() + 1.5 * DAY_MS), [
      new RegExp(`cert\\.pem: the certificate of prices ends on ${DATE}; renew it`),
    ]);
  });

  await t.test('so is one that is not valid yet', async (t) => {
    const [first] = warningsAt(loaded(t, chain, key), Date.now() - 3 * DAY_MS);
    t.match(first, /cert\.pem: the certificate of prices is valid only from 20.* on; until then/);
  });

  await t.test('a certificate without the one of its issuer', async (t) => {
    t.match(loaded(t, `${leaf}`, key).warnings, [
      /cert_file: .*\/cert\.pem has no certificate of intermediate, who issued the one in it: clients refuse it/,
    ]);
  });

  await t.test('a chain with a certificate that issued none of it', async (t) => {
    t.match(loaded(t, `${leaf}${authority.root}${above}`, key).warnings, [
      /certificate 2 \(root\) did not issue certificate 1, intermediate did/,
      /certificate 3 \(intermediate\) did not issue certificate 2, root did/,
    ]);
  });
});
