import { hashToken } from '../../config/token_hash.js';
import { NS_PER_SECOND } from '../../model/time.js';
import { PAGE_PATHS } from '../../wire/paths.js';
import { limitHeaders, type RateLimiter } from '../access/rate_limit.js';
import { acceptsEncoding } from '../http/content_encoding.js';
import { VARY } from '../http/response_head.js';
import { failure, type RestRequest, type RestResponse } from '../http/rest_exchange.js';
import { ENCODINGS, type Encoding, type PageFile } from './page_files.js';

/** Paths of earlier versions, and where their content is now, relative to them. */
const MOVED: ReadonlyMap<string, string> = new Map([
  ['/docs', 'docs/'],
  ['/docs/client', 'client_functions.html'],
]);

/**
 * Returns the headers of the live page and of the documents. A page may load scripts, styles and its icon from its own origin. The page may connect only to that
 * origin and to the operators in the configuration, and a link cannot add an operator. No other page may show these pages in a frame. Forms
 * send nothing, because the page's script reads the fields of forms.
 * @param operators the origins of other operators
 */
export function pageHeaders(operators: readonly string[]): Readonly<Record<string, string>> {
  const targets = operators.flatMap((origin) => [origin, origin.replace(/^http/, 'ws')]);
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      ["connect-src 'self'", ...targets].join(' '),
      "style-src 'self'",
      "img-src 'self'",
      "font-src 'self'",
      "worker-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
}

/**
 * The requests of a client address in a period: 25 a second on average, and ten tabs at once, because a tab loads 20 files. The files
 * are compressed at the start, and browsers keep all of them except the page itself.
 */
const REQUESTS_PER_PERIOD = 250;
const PERIOD_NS = 10n * NS_PER_SECOND;
const METHODS = ['GET', 'HEAD'];

export interface PageOptions {
  readonly files: ReadonlyMap<string, PageFile>;
  readonly clientOf: (request: RestRequest) => string;
  readonly limiter: RateLimiter;
  /** The origins of other operators to which the page may connect. */
  readonly operators: readonly string[];
  /** The token that everybody receives; absent if readers need their own token. */
  readonly token?: string | undefined;
}

/**
 * Returns a function that answers requests for the live page, the documents and their files. The function returns `undefined` for every
 * other path.
 */
export function createPage(options: PageOptions): (request: RestRequest) => RestResponse | undefined {
  const { files, clientOf, limiter, operators, token } = options;
  const policy = Object.entries(pageHeaders(operators));
  return (request) => {
    const { path, hasBody, fault } = request;
    const location = MOVED.get(path);
    const file = path === PAGE_PATHS.token && token !== undefined ? tokenFile(token) : files.get(path);
    // The REST API answers this request with an error that describes the problem.
    if ((file === undefined && location === undefined) || hasBody || fault !== undefined) return undefined;
    if (!METHODS.includes(request.method)) {
      const allowed = METHODS.join(', ');
      return failure(405, `only ${allowed} are served here`, [['Allow', allowed]]);
    }
    const allowance = limiter.take(`page ${clientOf(request)}`, REQUESTS_PER_PERIOD, PERIOD_NS);
    if (!allowance.allowed) return failure(429, 'too many requests', limitHeaders(allowance));
    if (file === undefined) return movedTo(location!);
    return { ...answerWithFile(file, request, policy), payer: 'page' };
  };
}

function movedTo(location: string): RestResponse {
  return { status: 301, headers: [['Location', location]], body: '', contentType: 'text/plain' };
}

/** Makes the file with the public token. */
function tokenFile(token: string): PageFile {
  return {
    contentType: 'text/plain; charset=utf-8',
    etag: `"${hashToken(token).toString('hex')}"`,
    isImmutable: false,
    bodies: { identity: Buffer.from(token) },
  };
}

function answerWithFile(
  file: PageFile,
  { ifNoneMatch = '', acceptEncoding = '' }: RestRequest,
  policy: readonly [string, string][],
): RestResponse {
  const { etag, isImmutable, contentType, bodies } = file;
  const headers: [string, string][] = [
    ...policy,
    ['ETag', etag],
    ['Cache-Control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'],
    [VARY, 'Accept-Encoding'],
  ];
  if (ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*'))
    return { status: 304, headers, body: '', contentType };
  const encoding = ENCODINGS.find((one) => bodies[one] !== undefined && accepts(acceptEncoding, one))!;
  if (encoding !== 'identity') headers.push(['Content-Encoding', encoding]);
  return { status: 200, headers, body: bodies[encoding]!, contentType };
}

/** Returns whether a client accepts an encoding. Plain contents are always accepted. */
function accepts(header: string, encoding: Encoding): boolean {
  return encoding === 'identity' || acceptsEncoding(header, encoding);
}
