import { z } from 'zod';
import { keccak256 } from '../../crypto/keccak.js';
import type { LedgerReader, ProofAnswer } from '../../publiclog/ledger/ledger_reader.js';
import { REST_PATHS } from '../../wire/paths.js';
import { DEFAULT_SIGNATURE_TYPE } from '../../wire/signatures.js';
import type { FindAsset } from '../rest/asked_assets.js';
import { EVERY_ORIGIN } from '../rest/log_files.js';
import { assetParameter, signatureTypeParameter, unixNanoseconds } from '../rest/parameters.js';
import { openRoute, type Route, type RouteError } from '../rest/route.js';

export interface ProofRouteOptions {
  readonly findAsset: FindAsset;
  readonly logFiles: Pick<LedgerReader, 'proofOf'>;
}

const STATUSES: Readonly<
  Record<Exclude<ProofAnswer, { readonly proof: string }>['lacks'], RouteError['status']>
> = {
  log: 404,
  price: 404,
  checkpoint: 503,
  records: 410,
};

/** Makes the route that proves that the public log contains a price. */
export function proofRoutes({ findAsset, logFiles }: ProofRouteOptions): [string, Route][] {
  return [
    [
      REST_PATHS.proof,
      openRoute({
        summary:
          'The proof that the public log has a signed price: a file of C2SP tlog-proof, with the entry of its batch and the place of its record as extra data. A checkpoint covers a price within the delay that /v1/signers promises; until then the answer is 503',
        parameters: {
          asset: assetParameter,
          timestamp: {
            description:
              'UNIX nanoseconds at which the service signed: timestamp of its timestamped_signature',
            required: true,
            schema: unixNanoseconds,
          },
          signature_type: signatureTypeParameter,
        },
        response: z.string(),
        raw: 'text/plain',
        headers: Object.fromEntries([EVERY_ORIGIN]),
        errors: [400, 404, 410, 500, 503],
        handle({ asset, timestamp, signature_type: wanted }) {
          // The log may contain an asset that the configuration no longer has. The type of the request then applies.
          const signatureType = wanted ?? findAsset(asset)?.signatureType ?? DEFAULT_SIGNATURE_TYPE;
          const symbolHash = keccak256(Buffer.from(asset));
          return { later: answer(logFiles.proofOf({ signatureType, symbolHash, timeNs: timestamp })) };
        },
      }),
    ],
  ];
}

async function answer(finding: Promise<ProofAnswer>) {
  const found = await finding;
  return 'proof' in found ? { data: found.proof } : { status: STATUSES[found.lacks], error: found.reason };
}
