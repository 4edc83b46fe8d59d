import type { PublisherKey, SignatureType } from '../../model/asset.js';
import { toHex } from '../../model/hex.js';
import { type Clock, secondOf } from '../../model/time.js';
import type { PublishRights } from '../../prices/gate.js';
import {
  type FindPublisher,
  LOGIN_NOT_SIGNED,
  type LoginClaim,
  type LoginHeaders,
  type LoginRefusal,
  type LoginWindow,
  readLogin,
} from '../../prices/publisher_login.js';

export interface PublisherLoginsOptions {
  /** Searches the allow-list of the current configuration. */
  readonly findPublisher: FindPublisher;
  readonly clock: Clock;
  readonly window: LoginWindow;
  /** Does the curve arithmetic synchronously. */
  readonly isSigned: (claim: LoginClaim) => boolean;
}

/**
 * A publisher that logged in with a signature of its key. All logins of a publisher share the same object. The publisher may
 * publish only as that key.
 */
export class PublisherLogin implements PublishRights {
  readonly signatureType: SignatureType;
  readonly key: Buffer;
  /** The name in logs and limits. */
  readonly name: string;
  readonly isRepeatable = true;

  constructor({ signatureType, key }: PublisherKey) {
    this.signatureType = signatureType;
    this.key = key;
    this.name = loginName({ signatureType, key });
  }

  /** The identity begins with a control character, which no token's name contains. */
  get identity(): string {
    return `\n${this.name}`;
  }

  /** Returns true, because the allow-list decides which assets the key may publish. */
  maySee(): boolean {
    return true;
  }

  mayPublishAs({ signatureType, key }: PublisherKey): boolean {
    return signatureType === this.signatureType && key.equals(this.key);
  }
}

/**
 * A login of a publisher. All logins with the same publisher and second have the same signature, so whoever has seen one of them can log in
 * again in this second's name.
 */
export class SignedLogin {
  readonly publisher: PublisherLogin;
  /** The UNIX second that is signed. */
  readonly second: bigint;

  constructor(publisher: PublisherLogin, second: bigint) {
    this.publisher = publisher;
    this.second = second;
  }

  /** The name under which request rates and the memory of unread answers are counted: repeating a login uses up no other login. */
  get payer(): string {
    return `publisher ${this.publisher.name} ${this.second}`;
  }
}

/** Checks logins by signature of the publishers on the allow-list. */
export class PublisherLoginCheck {
  readonly #options: PublisherLoginsOptions;
  /** The logins by {@link PublisherLogin.name}; at most one for each listed publisher. */
  readonly #logins = new Map<string, PublisherLogin>();

  constructor(options: PublisherLoginsOptions) {
    this.#options = options;
  }

  /**
   * Makes the checks that need no curve arithmetic.
   * @param pathType the only signature type that the path accepts; `undefined` if it accepts all
   */
  read(headers: LoginHeaders, pathType: SignatureType | undefined): LoginClaim | LoginRefusal {
    const { clock, window, findPublisher } = this.#options;
    return readLogin(headers, pathType, clock.nowNs(), window, findPublisher);
  }

  /** Verifies the signature, which is the last check. */
  verify(claim: LoginClaim): SignedLogin | LoginRefusal {
    if (!this.#options.isSigned(claim)) return LOGIN_NOT_SIGNED;
    const name = loginName(claim.publisher);
    let login = this.#logins.get(name);
    if (login === undefined) {
      login = new PublisherLogin(claim.publisher);
      this.#logins.set(name, login);
    }
    return new SignedLogin(login, secondOf(claim.timestampNs));
  }

  /** Returns whether the key is still on the allow-list. */
  isValid({ signatureType, key }: PublisherLogin): boolean {
    return this.#options.findPublisher(signatureType, key) !== undefined;
  }

  /** Applies a changed allow-list. */
  reload(): void {
    for (const [name, login] of this.#logins) if (!this.isValid(login)) this.#logins.delete(name);
  }
}

export function loginName({ signatureType, key }: PublisherKey): string {
  return `${signatureType} ${toHex(key)}`;
}
