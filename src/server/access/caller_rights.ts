import type { Config } from '../../config/config.js';
import type { ListedPublisher } from '../../model/asset.js';
import type { CallerName } from '../../prices/caller_name.js';
import type { PublishRights } from '../../prices/gate.js';
import type { PublisherSession } from '../../prices/publisher_session.js';
import { loginName, PublisherLogin } from './publisher_login_check.js';
import { Token, TokenDirectory } from './tokens.js';

/** Returns the name that identifies the connection's caller in another thread or node. */
export function callerNameOf({ rights }: PublisherSession): CallerName {
  const caller = rights as Token | PublisherLogin;
  if (caller instanceof Token) return { token: caller.config.sha256.toString('hex') };
  return { signatureType: caller.signatureType, key: caller.key };
}

/**
 * The rights of callers on other threads and nodes, from the current configuration. The object of a caller stays the same while the caller
 * has rights.
 */
export class CallerRights {
  readonly #tokens: TokenDirectory;
  #logins: ReadonlyMap<string, PublisherLogin>;

  constructor({ tokens, publishers }: Config) {
    this.#tokens = new TokenDirectory(tokens);
    this.#logins = loginsOf(publishers, new Map());
  }

  reload({ tokens, publishers }: Config): void {
    this.#tokens.reload(tokens);
    this.#logins = loginsOf(publishers, this.#logins);
  }

  of(caller: CallerName): PublishRights | undefined {
    if ('token' in caller) {
      const token = this.#tokens.find(caller.token);
      return token?.has('publish') ? token : undefined;
    }
    const key = Buffer.from(caller.key);
    return this.#logins.get(loginName({ signatureType: caller.signatureType, key }));
  }
}

function loginsOf(
  publishers: readonly ListedPublisher[],
  before: ReadonlyMap<string, PublisherLogin>,
): Map<string, PublisherLogin> {
  return new Map(
    publishers.map((publisher) => {
      const name = loginName(publisher);
      return [name, before.get(name) ?? new PublisherLogin(publisher)];
    }),
  );
}
