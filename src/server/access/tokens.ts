import { hash, timingSafeEqual } from 'node:crypto';
import type { Scope, TokenConfig } from '../../config/config.js';
import { canonicalKey } from '../../config/publisher_key.js';
import type { PublishRights } from '../../ingest/gate.js';

/** A known access token and its rights. */
export class Token implements PublishRights {
  /** The configuration; replaced when a reload changed the token's rights, which open sockets see at once. */
  constructor(public config: TokenConfig) {}

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

/** The access tokens in force. */
export class TokenDirectory {
  readonly #tokens = new Map<string, Token>();
  /** The hash of the text that a request sent, while it is compared. */
  readonly #sent = Buffer.alloc(SHA256_BYTES);

  constructor(configs: readonly TokenConfig[]) {
    this.reload(configs);
  }

  /**
   * Applies changed tokens. Tokens that stay are the same objects with new rights; removed tokens lose all rights, so their
   * waiting messages are refused.
   */
  reload(configs: readonly TokenConfig[]): void {
    const before = new Map(this.#tokens);
    this.#tokens.clear();
    for (const config of configs) {
      const hash = config.sha256.toString('hex');
      const token = before.get(hash) ?? new Token(config);
      token.config = config;
      this.#tokens.set(hash, token);
      before.delete(hash);
    }
    for (const token of before.values()) token.config = { ...token.config, scopes: new Set() };
  }

  /** Tells whether the token is still known and still has the scope. */
  isValid(token: Token, scope: Scope): boolean {
    return this.#tokens.get(token.config.sha256.toString('hex')) === token && token.has(scope);
  }

  /**
   * Finds a token. The look-up is by the hash of the sent text, and its sender cannot choose a hash, so the time reveals nothing
   * of a token; the comparison that decides takes constant time.
   * @param hash from {@link hashOf}
   */
  find(hash: string): Token | undefined {
    const token = this.#tokens.get(hash);
    if (token === undefined) return undefined;
    this.#sent.write(hash, 'hex');
    return timingSafeEqual(token.config.sha256, this.#sent) ? token : undefined;
  }
}

/** Returns the hex of the SHA-256 of a token's text, by which a configuration names it. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The text of a token, or the fault of the headers. */
export type TokenText =
  | { readonly text: string }
  | { readonly reason: 'missing' | 'repeated' | 'malformed'; readonly error: string };

/** @param authorization all `Authorization` headers of a request, as they came */
export function readTokenText(authorization: readonly string[]): TokenText {
  const [header] = authorization;
  if (header === undefined) return { reason: 'missing', error: 'the Authorization header is missing' };
  if (authorization.length > 1) return { reason: 'repeated', error: 'the Authorization header is repeated' };
  const text = BASIC.exec(header)?.[1];
  return text === undefined
    ? { reason: 'malformed', error: 'the Authorization header is not "Basic <TOKEN>"' }
    : { text };
}

const SHA256_BYTES = 32;

/** The scheme in any case, then the token: visible characters without spaces. */
const BASIC = /^basic +([\x21-\x7e]+) *$/i;
