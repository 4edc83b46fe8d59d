import { CHECKPOINT_FILE } from '../../publiclog/ledger/ledger_folder.js';
import type { LedgerReader } from '../../publiclog/ledger/ledger_reader.js';
import { LOG_FILES_PATH, STREAM_LOG_FOLDER } from '../../wire/paths.js';
import { limitHeaders, type RateLimiter } from '../access/rate_limit.js';
import { failure, type LateAnswer, type RestRequest, type RestResponse } from '../http/rest_exchange.js';

export interface LogFilesOptions {
  readonly files: Pick<LedgerReader, 'publicFile'>;
  /** The files of this node's log of streaming payloads. */
  readonly streamFiles: Pick<LedgerReader, 'publicFile'>;
  readonly clientOf: (request: RestRequest) => string;
  readonly limiter: RateLimiter;
  readonly onFault: (path: string, error: unknown) => void;
}

/** The requests per second for each client address. At this rate, an audit of a day's batches takes three minutes. */
const REQUESTS_PER_SECOND = 500;
const METHODS = ['GET', 'HEAD'];
/** The header that allows a page of any origin to read the log. The log is public. */
export const EVERY_ORIGIN = ['Access-Control-Allow-Origin', '*'] as const;
/** The cache control of files whose bytes never change. */
const FOREVER = 'public, max-age=31536000, immutable';
const NEWEST = 'public, max-age=1';

/**
 * Returns a function that answers requests for the public files of both logs. The function returns `undefined` for every other
 * path.
 */
export function serveLogFiles(options: LogFilesOptions): (request: RestRequest) => RestResponse | undefined {
  const { clientOf, limiter } = options;
  return (request) => {
    const { path, hasBody, fault } = request;
    if (!path.startsWith(LOG_FILES_PATH) || hasBody || fault !== undefined) return undefined;
    if (!METHODS.includes(request.method)) {
      const allowed = METHODS.join(', ');
      return failure(405, `only ${allowed} are served here`, [['Allow', allowed], EVERY_ORIGIN]);
    }
    const allowance = limiter.take(`log ${clientOf(request)}`, REQUESTS_PER_SECOND);
    if (!allowance.allowed)
      return failure(429, 'too many requests', [...limitHeaders(allowance), EVERY_ORIGIN]);
    const later = answer(path.slice(LOG_FILES_PATH.length), options).catch((error: unknown) => {
      options.onFault(path, error);
      return failure(500, 'internal error');
    });
    return { status: 200, headers: [EVERY_ORIGIN], body: '', payer: 'log', later };
  };
}

async function answer(below: string, { files, streamFiles }: LogFilesOptions): Promise<LateAnswer> {
  const isOfStreams = below.startsWith(STREAM_LOG_FOLDER);
  const path = isOfStreams ? below.slice(STREAM_LOG_FOLDER.length) : below;
  const body = await (isOfStreams ? streamFiles : files).publicFile(path);
  if (body === undefined)
    return failure(404, 'the public log has no such file', [['Cache-Control', 'no-store']]);
  const isCheckpoint = path === CHECKPOINT_FILE;
  const contentType = isCheckpoint ? 'text/plain; charset=utf-8' : 'application/octet-stream';
  return {
    status: 200,
    headers: [
      ['Cache-Control', isCheckpoint ? NEWEST : FOREVER],
      ['X-Content-Type-Options', 'nosniff'],
    ],
    body,
    contentType,
  };
}
