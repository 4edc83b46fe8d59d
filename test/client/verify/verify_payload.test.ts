import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { test } from 'tap';
import { signDigest } from '../../../src/client/sign/evm_sign.js';
import type { Signers } from '../../../src/client/verify/checks.js';
import { checksumAddress, evmAddress } from '../../../src/client/verify/evm_signatures.js';
import { type PayloadExpectations, verifyPayload } from '../../../src/client/verify/verify_payload.js';
import { cases } from '../../tier.js';
import { bodyOf, type Content, SECRET_KEY, SIGNER, sealed, signed } from '../signed_payload.js';

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function failures(hex: string, expected: Partial<PayloadExpectations<Signers>> = {}): string[] {
  return verifyPayload(hex, { signers: 'unchecked', ...expected })
    .checks.filter(({ status }) => status === 'failed')
    .map(({ name }) => name);
}

const NOW_NS = 1765215119172715000n;
const ONE: Content = { taxonomyId: 1, timestampNs: NOW_NS, assets: [[1, 100n * 10n ** 18n, 1]] };

test('the golden payload, field by field', async (t) => {
  const payload = [
    '690a1cce3cf72e889b699ef800fb80ba47c123ce7422517bfcd2ce0c701423a1', // r
    '2938fb6fcf4424c21e39688cd41dd8919b149642b590328ada7532c88b5f0d6b', // s
    '01', // v
    '0001', // taxonomy ID
    '187f4dcc627041f8', // timestamp
    '0001', // asset ID
    '00000000000000056bc75e2d63100000', // value
  ].join('');
  const signer = '0xc4a02e7d370402f4afc36032076b05e74ff81786';
  const report = verifyPayload(payload, { signers: [signer], taxonomyId: 1 });
  t.equal(report.verdict, 'verified');
  t.equal(report.signer?.toLowerCase(), signer);
  t.match(report.payload, { layout: 'simplified', taxonomyId: 1, timestampNs: NOW_NS });
  t.same(report.payload?.assets, [{ id: 1, value: 100n * 10n ** 18n }]);
  t.same(failures(payload, { signers: [SIGNER] }), ['signer']);
  t.same(failures(payload, { taxonomyId: 2 }), ['taxonomy']);
  t.same(
    failures(payload.replace('5e2d631', '5e2d632'), { signers: [signer] }),
    ['signer'],
    'another value, another signer',
  );
});

test('both layouts come back as they were encoded', async (t) => {
  const content = fc.record({
    // All taxonomy IDs occur, and often IDs that begin with the magic byte of the other layout.
    taxonomyId: fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.constantFrom(0xff00, 0xff01, 0xff02, 0xff03, 0xffff),
    ),
    timestampNs: fc.bigInt({ min: 10n ** 18n, max: 2n ** 63n - 1n }),
    assets: fc.uniqueArray(
      fc.tuple(
        fc.nat(0xffff),
        fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }),
        fc.constantFrom(0, 1, 2, 3, 0xff),
      ),
      { minLength: 1, maxLength: 40, selector: ([id]) => id },
    ),
  });
  fc.assert(
    fc.property(content, fc.boolean(), ({ taxonomyId, timestampNs, assets }, isVersioned) => {
      const sorted = assets.sort(([a], [b]) => a - b);
      const report = verifyPayload(signed(bodyOf({ taxonomyId, timestampNs, assets: sorted }, isVersioned)), {
        signers: [SIGNER],
        taxonomyId,
      });
      t.equal(report.verdict, 'verified');
      t.match(report.payload, { layout: isVersioned ? 'versioned' : 'simplified', taxonomyId, timestampNs });
      const expected = sorted.map(([id, value, status]) =>
        isVersioned ? { id, value, marketStatus: status === 0xff ? null : status } : { id, value },
      );
      t.same(report.payload?.assets, expected);
    }),
    { numRuns: cases(60) },
  );
});

test('the check that fails is named', async (t) => {
  const versioned = bodyOf(ONE, true);
  const patched = (at: number, value: number) => {
    const body = Buffer.from(versioned);
    body[at] = value;
    return signed(body);
  };
  t.same(failures('not hex'), ['form']);
  t.same(failures('0xabc'), ['form']);
  t.same(failures('00'.repeat(64)), ['form']);
  t.same(failures(signed(bodyOf(ONE, false)).replace(/^(0x.{128})../, '$102')), ['form'], 'recovery byte 2');
  t.same(failures(signed(bodyOf(ONE, false)).slice(0, -2)), ['length']);
  t.same(failures(signed(bodyOf({ ...ONE, assets: [] }, false))), ['length'], 'no assets');
  t.same(failures(signed(Buffer.alloc(0))), ['length']);
  t.same(failures(patched(1, 3)), ['version']);
  t.same(failures(patched(3, 2)), ['mask'], 'without the price');
  t.same(failures(patched(3, 0x83)), ['mask'], 'with an unknown attribute');
  t.same(failures(signed(versioned.subarray(0, -1))), ['length']);
  t.same(failures(patched(32, 4)), ['market status']);
  const ofIds = (...ids: number[]) =>
    failures(signed(bodyOf({ ...ONE, assets: ids.map((id) => [id, 1n, 1] as const) }, false)));
  t.same(ofIds(2, 1), ['assets']);
  t.same(ofIds(2, 2), ['assets'], 'twice');
});

test('signatures that no key could have made, and second forms, are refused', async (t) => {
  const body = bodyOf(ONE, false);
  const tail = body.toString('hex');
  const { r, s, recovery } = signDigest(keccak_256(body), SECRET_KEY);
  t.same(failures(sealed(r, CURVE_ORDER - s, 1 - recovery) + tail, { signers: [SIGNER] }), ['low s']);
  for (const [badR, badS] of [
    [0n, s],
    [r, 0n],
    [CURVE_ORDER, s],
    [r, CURVE_ORDER],
  ] as const) {
    t.same(failures(sealed(badR, badS, recovery) + tail, { signers: [SIGNER] }), ['signature range']);
  }
  // No point of the curve has the x coordinate 5.
  t.same(failures(sealed(5n, s, 0) + tail), ['recovery']);
});

test('a payload is verified only against signers that were named', async (t) => {
  const hex = signed(bodyOf(ONE, false));
  const other = checksumAddress(evmAddress(new Uint8Array(32).fill(8)));
  t.equal(verifyPayload(hex, { signers: [other, SIGNER.toLowerCase()] }).verdict, 'verified');
  const mismatch = verifyPayload(hex, { signers: [other] });
  t.match(mismatch, { verdict: 'failed', signer: SIGNER });
  t.match(mismatch.checks.at(-1), { name: 'signer', reason: `signed by ${SIGNER}, not ${other}` });
  const recovered = verifyPayload(hex, { signers: 'unchecked' });
  t.match(recovered, { verdict: 'recovered', signer: SIGNER });
  t.match(recovered.checks.at(-1), { name: 'signer', status: 'skipped' });
  // The code must also refuse values of the wrong type at run time.
  for (const signers of [undefined, null, SIGNER, [], ['no address'], [undefined], 'Unchecked'])
    t.throws(() => verifyPayload(hex, { signers: signers as string[] }), /signers/);
});
