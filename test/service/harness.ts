import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Test } from 'tap';
import WebSocket from 'ws';
import { HANG_MS } from '../../scripts/load/wait.js';
import { createPriceSigner, type PriceSigner, parseSecretKey } from '../../src/client/index.js';
import { systemClock } from '../../src/clock/clock.js';
import { parseConfig } from '../../src/config/load.js';
import type { PrivateKeys } from '../../src/config/private_keys.js';
import type { SignatureType } from '../../src/model/asset.js';
import type { Clock } from '../../src/model/time.js';
import type { Service } from '../../src/service/service.js';
import { startService } from '../../src/service/start.js';

/** The text of the token that has every scope. */
export const TOKEN = 'test-token';
export const SERVICE_KEYS = { evm: Buffer.alloc(32, 0x11), stark: Buffer.alloc(32, 0x01) };

/** Returns a signer of publisher number `n`. Each number has a different key. */
export function publisherSigner(n: number, signatureType: SignatureType = 'evm'): PriceSigner {
  const secretKey = parseSecretKey((n + 0x100).toString(16).padStart(64, '0'))!;
  return createPriceSigner({ signatureType, secretKey, oracleId: 'tests' });
}

export function sha256(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * Sections of a configuration file. The values of sections are YAML flow text, which includes JSON. Absent sections have the
 * default values below.
 */
export interface Sections {
  readonly [section: string]: unknown;
}

/** Returns a configuration with an EVM asset, a Stark asset and three publishers of each type. */
export function testConfig(dir: string, sections: Sections = {}): string {
  const file = {
    admin: { port: 0 },
    keys: { evm: { file: 'unused' }, stark: { file: 'unused' } },
    tokens: [namedToken(TOKEN, { name: 'all' })],
    assets: [
      { id: 1, symbol: 'BTCUSD' },
      { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
    ],
    publishers: (['evm', 'stark'] as const).flatMap((type) =>
      [1, 2, 3].map((n) => ({
        key: publisherSigner(n, type).publicKey,
        signature_type: type,
        oracle_id: 'tests',
      })),
    ),
    storage: { dir: join(dir, 'store') },
    ...sections,
    listen: { port: 0, ...(sections['listen'] as object | undefined) },
  };
  return JSON.stringify(file);
}

/** Returns a token whose text is its name, with every scope, and with more requests than a test makes. */
export function namedToken(name: string, change: object = {}) {
  return {
    name,
    sha256: sha256(name),
    scopes: ['rest', 'stream', 'publish'],
    requests_per_second: 100_000,
    ...change,
  };
}

/** Returns sections with the token that has every scope, and with further tokens like it. */
export function withTokens(...texts: string[]): Sections {
  return { tokens: [TOKEN, ...texts].map((text) => namedToken(text)) };
}

export interface TestService extends Pick<Service, 'port' | 'adminPort' | 'signerOf' | 'stop'> {
  readonly evmAddress: string;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** `ws://127.0.0.1:PORT` */
  readonly socketUrl: string;
  readonly adminUrl: string;
  readonly dir: string;
  /** Applies changed sections, keys and announcements, like a reload by SIGHUP. */
  reconfigure(sections: Sections, keys?: PrivateKeys, announcements?: readonly string[]): void;
}

/**
 * Starts a whole service in this process, on free ports and with a separate data folder. The end of the test, or `stop` before it, frees
 * the ports and removes the folder.
 * @param options the folder of an earlier service, or a clock
 */
export async function startTestService(
  t: Pick<Test, 'teardown'>,
  sections: Sections = {},
  options: {
    readonly dir?: string;
    readonly clock?: Clock;
    readonly keys?: PrivateKeys;
    /** The announcements of the file that `keys.announcements` would name. */
    readonly announcements?: readonly string[];
  } = {},
): Promise<TestService> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'tickseal-test-'));
  const removeDir = () => {
    if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
  };
  const service = await startService({
    config: { ...configOf(dir, sections), announcements: options.announcements ?? [] },
    keys: options.keys ?? SERVICE_KEYS,
    clock: options.clock ?? systemClock(),
    logger: pino({ level: 'silent' }),
    env: {},
    // Starting threads for signatures would take most of the start-up time.
    cryptoThreads: 0,
  }).catch((error) => {
    removeDir();
    throw error;
  });
  const stop = () => service.stop().then(removeDir);
  t.teardown(stop);
  const { port, adminPort, evmAddress } = service;
  return {
    port,
    adminPort,
    evmAddress: evmAddress!,
    signerOf: (type) => service.signerOf(type),
    url: `http://127.0.0.1:${port}`,
    socketUrl: `ws://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    dir,
    reconfigure: (changed, keys = SERVICE_KEYS, announcements = []) =>
      service.reload({ ...configOf(dir, changed), announcements }, keys),
    stop,
  };
}

function configOf(dir: string, sections: Sections) {
  const loaded = parseConfig(testConfig(dir, sections), 'test.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
}

/** A WebSocket of the npm package `ws` that keeps received messages until a test takes them. */
export class TestSocket {
  readonly #received: string[] = [];
  readonly #waiting: ((text: string) => void)[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;

  private constructor(readonly ws: WebSocket) {
    this.closed = new Promise((resolve) => {
      ws.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    ws.on('message', (data) => {
      const text = data.toString();
      const waiting = this.#waiting.shift();
      if (waiting) waiting(text);
      else this.#received.push(text);
    });
    ws.on('error', () => undefined);
  }

  /**
   * Opens a socket. @param token the token, or null for no token @throws Error with the status and body when the upgrade is
   * refused
   */
  static open(
    url: string,
    token: string | null = TOKEN,
    headers: Record<string, string> = {},
    protocols: readonly string[] = [],
  ): Promise<TestSocket> {
    return new Promise((resolve, reject) => {
      const authorization = token === null ? {} : { Authorization: `Basic ${token}` };
      const ws = new WebSocket(url, [...protocols], { headers: { ...authorization, ...headers } });
      const socket = new TestSocket(ws);
      ws.once('open', () => resolve(socket));
      ws.once('error', reject);
      ws.once('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () => reject(new Error(`${response.statusCode} ${body}`)));
      });
    });
  }

  send(message: unknown): void {
    this.ws.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Returns the next message that {@link next} has not returned yet. */
  next(): Promise<string> {
    const text = this.#received.shift();
    if (text !== undefined) return Promise.resolve(text);
    return new Promise((resolve, reject) => {
      // The timer is unreferenced, because the timer of an abandoned wait must not keep the test's process alive.
      const timer = setTimeout(() => reject(new Error(`no message within ${HANG_MS} ms`)), HANG_MS).unref();
      this.#waiting.push((received) => {
        clearTimeout(timer);
        resolve(received);
      });
    });
  }

  /** Returns the next message as JSON. The integers of the message must fit a double. */
  async nextJson(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.next()) as Record<string, unknown>;
  }

  async close(): Promise<void> {
    this.ws.close();
    await this.closed;
  }
}

/** Makes a GET request with the token that has every scope. */
export function get(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { headers: { Authorization: `Basic ${TOKEN}`, ...headers } });
}

/** Asks REST, with the token that has every scope or another one. @returns the answer's text, and the `data` or `error` in it */
export async function ask({ url }: Pick<TestService, 'url'>, path: string, token = TOKEN) {
  const response = await get(url + path, { Authorization: `Basic ${token}` });
  const text = await response.text();
  const { data, error } = JSON.parse(text);
  return { status: response.status, text, data, error };
}
