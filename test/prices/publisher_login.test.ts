import { test } from 'tap';
import { createCryptoJobs } from '../../src/crypto/pool/jobs.js';
import type { ListedPublisher, SignatureType } from '../../src/model/asset.js';
import { parseHex } from '../../src/model/hex.js';
import type { TimeNs } from '../../src/model/time.js';
import { readLogin } from '../../src/prices/publisher_login.js';
import { isLoginSigned } from '../../src/server/access/login_verifier.js';
import { SIGNATURE_TYPES } from '../../src/wire/signatures.js';
import { samplePublisher } from '../model/sample.js';
import { loginHeaders } from '../service/login_headers.js';

const NOW_NS = 1_772_460_000_500_000_000n as TimeNs;
const SECOND_NS = 1_000_000_000n;
const WINDOW = { maxPastNs: 30n * SECOND_NS, maxFutureNs: 2n * SECOND_NS };
const jobs = createCryptoJobs();

/** Recorded signatures of the client's signer, for publisher 1 at NOW_NS; see `loginHeaders`. */
const VECTORS = {
  evm: '0x25e6c6bfdd7804334895c7947bf7de8d4f55b6909fad3cb16566410ee6bc7cec509fa02c41613267567812cfb5a0f67d5135041ab2ce07080f1ef4730214cf081b',
  stark:
    '0x0081c9fa3e80b723317a4bf6e93c1042271ccaeba26e30f5bd61e17efe69a0fe02b5ab80693b74067775c603ea30466ec05b65373284c7db1b6855d7c58096cd',
};

function keyOf(type: SignatureType, n = 1): Buffer {
  return parseHex(loginHeaders(n, type, NOW_NS)['X-Public-Key']!, type === 'evm' ? 20 : 32)!;
}

/** Checks the headers of a login. Publisher 1 is on the allow-list. */
function judge(
  headers: Record<string, string> | [string, string][],
  path: SignatureType | undefined,
  nowNs: bigint = NOW_NS,
): string {
  const entries = Array.isArray(headers) ? headers : Object.entries(headers);
  const lower = entries.map(([name, value]) => [name.toLowerCase(), value] as const);
  const listed = new Map<string, ListedPublisher>(
    SIGNATURE_TYPES.map((signatureType) => [
      `${signatureType}${keyOf(signatureType).toString('hex')}`,
      samplePublisher({ signatureType, key: keyOf(signatureType) }),
    ]),
  );
  const claim = readLogin(lower, path, nowNs as TimeNs, WINDOW, (type, key) =>
    listed.get(`${type}${key.toString('hex')}`),
  );
  if ('error' in claim) return `${claim.status} ${claim.reason}: ${claim.error}`;
  return isLoginSigned(claim, jobs) ? 'in' : 'not signed';
}

for (const type of SIGNATURE_TYPES) {
  const good = loginHeaders(1, type, NOW_NS);
  const other = type === 'evm' ? 'stark' : 'evm';

  test(`${type}: a login within the window, however its key is written`, async (t) => {
    t.equal(good['X-Signature'], VECTORS[type], 'the signer is deterministic');
    t.equal(judge(good, type), 'in');
    t.equal(judge(good, undefined), 'in', 'a path that takes both types');
    const digits = good['X-Public-Key']!.slice(2);
    t.equal(judge({ ...good, 'X-Public-Key': `0x00${digits}` }, type), 'in', 'zeros before the key');
    t.equal(judge({ ...good, 'X-Public-Key': `0x${digits.toLowerCase()}` }, type), 'in');
    const late = String(NOW_NS - (NOW_NS % SECOND_NS) + 999_999_999n);
    t.equal(judge({ ...good, 'X-Timestamp': late }, type), 'in', 'whole seconds are signed');
  });

  test(`${type}: the window has both its ends`, async (t) => {
    const at = (offsetNs: bigint) => judge(good, type, NOW_NS + offsetNs);
    t.equal(at(WINDOW.maxPastNs), 'in');
    t.match(at(WINDOW.maxPastNs + 1n), /^401 stale: X-Timestamp/);
    t.equal(at(-WINDOW.maxFutureNs), 'in');
    t.match(at(-WINDOW.maxFutureNs - 1n), /^401 future: X-Timestamp/);
  });

  test(`${type}: each header missing, repeated or malformed is named`, async (t) => {
    for (const name of Object.keys(good)) {
      const without = Object.entries(good).filter(([one]) => one !== name);
      t.equal(judge(without, type), `401 missing: the ${name} header is missing`);
      const twice: [string, string][] = [...Object.entries(good), [name, good[name]!]];
      t.equal(judge(twice, type), `401 repeated: the ${name} header is repeated`);
      for (const value of ['', `${good[name]} `, `${good[name]}g`, '0x', '-1'])
        t.match(judge({ ...good, [name]: value }, type), new RegExp(`^401 malformed: ${name} `), value);
    }
    const short = { ...good, 'X-Signature': good['X-Signature']!.slice(0, -2) };
    t.match(judge(short, type), /^401 malformed: X-Signature/);
  });

  test(`${type}: each header changed is refused`, async (t) => {
    t.equal(judge({ ...good, 'X-Timestamp': String(NOW_NS - SECOND_NS) }, type), 'not signed');
    t.equal(
      judge({ ...good, 'X-Public-Key': loginHeaders(2, type, NOW_NS)['X-Public-Key']! }, type),
      '403 unknown: X-Public-Key is not on the allow-list',
    );
    const signature = good['X-Signature']!;
    for (const at of [2, 30, 66, 100]) {
      const digit = signature[at] === '1' ? '2' : '1';
      t.equal(
        judge({ ...good, 'X-Signature': signature.slice(0, at) + digit + signature.slice(at + 1) }, type),
        'not signed',
      );
    }
    t.match(judge(good, other), /^403 signature type: X-Signature-Type is not/);
    t.match(judge({ ...good, 'X-Signature-Type': other }, other), /^401 malformed/);
  });
}
