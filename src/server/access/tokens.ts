import { hash, timingSafeEqual } from 'node:crypto';
import type { Scope, TokenConfig } from '../../config/config.js';
import { canonicalKey } from '../../config/publisher_key.js';
import { NS_PER_SECOND, type TimeNs } from '../../model/time.js';
import type { PublishRights } from '../../prices/gate.js';

/** A known access token and its rights. */
export class Token implements PublishRights {
  #config: TokenConfig;
  #payer: string;

  constructor(config: TokenConfig) {
    this.#config = config;
    this.#payer = payerOf(config);
  }

  /**
   * The configuration. A reload that changes the token's rights replaces this object, so open sockets have the new rights
   * immediately.
   */
  get config(): TokenConfig {
    return this.#config;
  }

  set config(config: TokenConfig) {
    this.#config = config;
    this.#payer = payerOf(config);
  }

  /** The name under which request rates and the memory of unread answers are counted. */
  get payer(): string {
    return this.#payer;
  }

  get name(): string {
    return this.config.name;
  }

  get identity(): string {
    return this.config.name;
  }

  has(scope: Scope): boolean {
    return this.config.scopes.has(scope);
  }

  maySee(symbol: string): boolean {
    return this.config.assets.has('*') || this.config.assets.has(symbol);
  }

  mayPublishAs({ key }: { readonly key: Buffer }): boolean {
    return this.has('publish') && (this.config.publisherKeys?.has(canonicalKey(key)) ?? true);
  }
}

function payerOf({ name }: TokenConfig): string {
  return `token ${name}`;
}

/** The access tokens of the current configuration. */
export class TokenDirectory {
  readonly #tokens = new Map<string, Token>();
  /** The buffer for the hash of a sent token during a comparison. */
  readonly #sent = Buffer.alloc(SHA256_BYTES);
  /** The tokens of the headers of the last second. */
  readonly #recent = new Map<string, Token>();
  /** The times between which {@link #recent} collects headers. */
  #recentFromNs = 0n;
  #recentUntilNs = 0n;

  constructor(configs: readonly TokenConfig[]) {
    this.reload(configs);
  }

  /**
   * Applies changed tokens. A remaining token keeps its object and receives its new rights. A removed token loses all rights, so
   * the service refuses its waiting messages.
   */
  reload(configs: readonly TokenConfig[]): void {
    const before = new Map(this.#tokens);
    this.#tokens.clear();
    this.#recent.clear();
    for (const config of configs) {
      const hash = config.sha256.toString('hex');
      const token = before.get(hash) ?? new Token(config);
      token.config = config;
      this.#tokens.set(hash, token);
      before.delete(hash);
    }
    for (const token of before.values()) token.config = { ...token.config, scopes: new Set() };
  }

  /** Returns whether the token is still known and still has the scope. */
  isValid(token: Token, scope: Scope): boolean {
    return this.#tokens.get(token.config.sha256.toString('hex')) === token && token.has(scope);
  }

  /** Returns whether a hash belongs to a token. This method does not authenticate a caller; only {@link find} does. */
  has(hash: string): boolean {
    return this.#tokens.has(hash);
  }

  /**
   * Returns the token of a header that {@link keepRecent} received within the last second, without the SHA-256, which takes a tenth of
   * the time of a request. The map compares texts only if their seeded hashes are equal, so the duration of the look-up reveals
   * nothing about a token.
   * @param header the `Authorization` header as received
   */
  findRecent(header: string, nowNs: TimeNs): Token | undefined {
    if (nowNs < this.#recentUntilNs && nowNs >= this.#recentFromNs) return this.#recent.get(header);
    this.#recent.clear();
    this.#recentFromNs = nowNs;
    this.#recentUntilNs = nowNs + NS_PER_SECOND;
    return undefined;
  }

  /** Keeps a header whose token was found. A long header is not kept, and when the memory is full, no header. */
  keepRecent(header: string, token: Token): void {
    if (this.#recent.size < RECENT_MAX && header.length <= RECENT_LENGTH_MAX) this.#recent.set(header, token);
  }

  /**
   * Finds a token by the hash of the sent text. The sender cannot choose a hash, so the duration of the look-up reveals nothing
   * about a token. The final comparison takes constant time.
   * @param hash from {@link hashOf}
   */
  find(hash: string): Token | undefined {
    const token = this.#tokens.get(hash);
    if (token === undefined) return undefined;
    this.#sent.write(hash, 'hex');
    return timingSafeEqual(token.config.sha256, this.#sent) ? token : undefined;
  }
}

/** Returns the hex of the SHA-256 of a token's text. The configuration identifies a token by this hash. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The text of a token, or the fault of the headers. */
export type TokenText =
  | { readonly text: string }
  | { readonly reason: 'missing' | 'repeated' | 'malformed'; readonly error: string };

/** @param authorization all `Authorization` headers of a request, as received */
export function readTokenText(authorization: readonly string[]): TokenText {
  const [header] = authorization;
  if (header === undefined)
    return {
      reason: 'missing',
      error: 'the Authorization header is missing: send "Authorization: Basic <TOKEN>"',
    };
  if (authorization.length > 1) return { reason: 'repeated', error: 'the Authorization header is repeated' };
  const text = BASIC.exec(header)?.[1];
  return text === undefined
    ? { reason: 'malformed', error: 'the Authorization header is not "Basic <TOKEN>"' }
    : { text };
}

/**
 * Returns the token of a header in the form of RFC 7617: the base64 of `TOKEN:` or `:TOKEN`, as `curl -u TOKEN:` and browsers send it.
 * @param text from {@link readTokenText}
 * @returns `undefined` if the text has another form
 */
export function tokenOfUserPass(text: string): string | undefined {
  if (!BASE64.test(text)) return undefined;
  const [, user = '', password = ''] = USER_PASS.exec(Buffer.from(text, 'base64').toString('latin1')) ?? [];
  return user === '' || password === '' ? user || password || undefined : undefined;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** The pattern of decoded credentials with visible characters. */
const USER_PASS = /^([\x21-\x39\x3b-\x7e]*):([\x21-\x7e]*)$/;
const SHA256_BYTES = 32;
const RECENT_MAX = 1_000;
const RECENT_LENGTH_MAX = 256;

/**
 * The pattern of the header: the scheme in upper or lower case, then the token, which has only visible characters without
 * spaces.
 */
const BASIC = /^basic +([\x21-\x7e]+) *$/i;
