import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AddressedRequest } from '../../model/client_address.js';
import {
  ADD_CHECKPOINT_BYTES_MAX,
  ADD_CHECKPOINT_PATH,
  SIZE_CONTENT_TYPE,
} from '../../tlog/add_checkpoint.js';
import { limitPeerConnections } from './peer_connections.js';
import { RequestQuota } from './request_quota.js';
import type { LogWitness } from './witness.js';

// The witness uses node:http instead of uWebSockets.js. A log sends a request only every few seconds, so the witness does not need the
// speed of uWebSockets.js, and node:http itself refuses malformed requests.

export interface WitnessListenerOptions {
  readonly host: string;
  readonly port: number;
  /** The paths before `/add-checkpoint` and before `/<hash of an origin>/checkpoint`. */
  readonly submissionPrefix: string;
  readonly monitoringPrefix: string;
  /** Returns the client whose quota a request uses. */
  readonly clientOf: (request: AddressedRequest) => string;
  readonly requestsPerSecond: number;
  readonly connectionsMax: number;
  /** Returns the address to which a connection counts; `undefined` for a trusted proxy, which opens connections for many clients. */
  readonly peerOf: (address: string) => string | undefined;
  readonly connectionsPerAddressMax: number;
  readonly steadyMs: () => number;
}

export interface WitnessListener {
  readonly port: number;
  /** The number of refused requests by status. Counts only refusals before the checkpoint was read. */
  readonly refusals: ReadonlyMap<number, number>;
  /** Resolves when all open requests have their answers, or after {@link CLOSE_MS_MAX}. */
  close(): Promise<void>;
}

const REQUEST_MS_MAX = 10_000;
/** The interval at which requests above {@link REQUEST_MS_MAX} are ended. Node's default of 30 s lets them take 40 s. */
const REQUEST_CHECK_MS = 1_000;
const CLOSE_MS_MAX = 5_000;
/** The largest number of addresses with a quota. */
const ADDRESSES_MAX = 10_000;
const SECOND_MS = 1_000;

/**
 * Serves a witness: `POST <submission prefix>/add-checkpoint` and `GET <monitoring prefix>/<hash>/checkpoint`.
 * @throws Error when the address cannot be used
 */
export async function listenAsWitness(
  witness: LogWitness,
  options: WitnessListenerOptions,
): Promise<WitnessListener> {
  const server = createServer({
    headersTimeout: REQUEST_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    connectionsCheckingInterval: REQUEST_CHECK_MS,
    keepAliveTimeout: 4 * REQUEST_MS_MAX,
    maxHeaderSize: 8 * 1024,
  });
  server.maxConnections = options.connectionsMax;
  const refusals = new Map<number, number>();
  limitPeerConnections(server, {
    peerOf: options.peerOf,
    connectionsMax: options.connectionsPerAddressMax,
    onRefused: () => countRefusal(refusals, 429),
  });
  const quotas = new AddressQuotas(options);
  const answers = new Answers(witness, options, quotas, refusals);
  server.on('request', (request, response) => void answers.answer(request, response));
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    refusals,
    close: () => closeServer(server),
  };
}

class Answers {
  readonly #witness: LogWitness;
  readonly #submissionPath: string;
  readonly #options: WitnessListenerOptions;
  readonly #quotas: AddressQuotas;
  readonly #refusals: Map<number, number>;

  constructor(
    witness: LogWitness,
    options: WitnessListenerOptions,
    quotas: AddressQuotas,
    refusals: Map<number, number>,
  ) {
    this.#witness = witness;
    this.#options = options;
    this.#submissionPath = `${options.submissionPrefix}${ADD_CHECKPOINT_PATH}`;
    this.#quotas = quotas;
    this.#refusals = refusals;
  }

  /** Answers a request. Never throws. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client may disconnect while its request is read or answered. The process must ignore this error.
    request.on('error', () => {});
    response.on('error', () => {});
    const { method = '', url = '' } = request;
    const path = url.split('?')[0]!;
    if (!this.#quotas.take(this.#clientOf(request)))
      return this.#refuse(response, 429, 'too many requests from this address', { 'Retry-After': '1' });
    if (path === this.#submissionPath) {
      if (method !== 'POST') return this.#refuse(response, 405, 'expected POST', { Allow: 'POST' });
      return this.#addCheckpoint(request, response);
    }
    const note = this.#monitoredLog(path);
    if (note === undefined) return this.#refuse(response, 404, 'there is nothing at this path');
    if (method !== 'GET' && method !== 'HEAD')
      return this.#refuse(response, 405, 'expected GET', { Allow: 'GET, HEAD' });
    // Node leaves out the body of an answer to HEAD, and keeps its length.
    send(response, 200, note, {
      'Cache-Control': 'public, max-age=5',
      'Access-Control-Allow-Origin': '*',
    });
  }

  async #addCheckpoint(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (body === 'too long')
      return this.#refuse(response, 413, `the request has more than ${ADD_CHECKPOINT_BYTES_MAX} bytes`);
    if (body === 'ended') return;
    const { status, body: text, isSize = false } = await this.#witness.addCheckpoint(body);
    send(response, status, text, isSize ? { 'Content-Type': SIZE_CONTENT_TYPE } : {});
  }

  #clientOf(request: IncomingMessage): string {
    const { 'x-forwarded-for': forwardedFor = [] } = request.headersDistinct;
    return this.#options.clientOf({ address: request.socket.remoteAddress ?? '', forwardedFor });
  }

  /** Returns the newest cosigned checkpoint of the log whose hash is in the path. */
  #monitoredLog(path: string): string | undefined {
    const { monitoringPrefix } = this.#options;
    if (!path.startsWith(monitoringPrefix)) return undefined;
    const [, hash] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path.slice(monitoringPrefix.length)) ?? [];
    return hash === undefined ? undefined : this.#witness.noteOf(hash);
  }

  #refuse(response: ServerResponse, status: number, reason: string, headers: HeaderTexts = {}): void {
    countRefusal(this.#refusals, status);
    // The connection ends, because the rest of the request may not have been read.
    send(response, status, `${reason}\n`, { ...headers, Connection: 'close' });
  }
}

function countRefusal(refusals: Map<number, number>, status: number): void {
  refusals.set(status, (refusals.get(status) ?? 0) + 1);
}

type HeaderTexts = Readonly<Record<string, string>>;

/** The request quotas of client addresses. Because of these quotas, no sender can use all of the witness's time. */
class AddressQuotas {
  readonly #options: WitnessListenerOptions;
  readonly #quotas = new Map<string, RequestQuota>();

  constructor(options: WitnessListenerOptions) {
    this.#options = options;
  }

  take(address: string): boolean {
    const { steadyMs, requestsPerSecond } = this.#options;
    const nowMs = steadyMs();
    let quota = this.#quotas.get(address);
    if (quota === undefined) {
      if (this.#quotas.size >= ADDRESSES_MAX) this.#forgetOldRates(nowMs);
      quota = new RequestQuota(requestsPerSecond, SECOND_MS, nowMs);
      this.#quotas.set(address, quota);
    }
    return quota.take(nowMs);
  }

  /** Drops the full quotas. If no quota is full, drops the oldest quota. */
  #forgetOldRates(nowMs: number): void {
    for (const [address, quota] of this.#quotas) if (quota.isFull(nowMs)) this.#quotas.delete(address);
    const [oldest] = this.#quotas.keys();
    if (this.#quotas.size >= ADDRESSES_MAX && oldest !== undefined) this.#quotas.delete(oldest);
  }
}

function send(response: ServerResponse, status: number, body: string, headers: HeaderTexts): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Reads a body. Stops reading when the body is too long. */
function readBody(request: IncomingMessage): Promise<Uint8Array | 'too long' | 'ended'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= ADD_CHECKPOINT_BYTES_MAX) chunks.push(chunk);
      else {
        request.pause();
        resolve('too long');
      }
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => resolve('ended'));
  });
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS_MAX);
  await closed.finally(() => clearTimeout(timer));
}
