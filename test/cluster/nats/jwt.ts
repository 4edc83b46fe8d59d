import { createAccount, createOperator, createUser, type KeyPair } from '@nats-io/nkeys';

interface Permissions {
  readonly pub: { readonly allow: readonly string[] };
  readonly sub: { readonly allow: readonly string[] };
}

const UNLIMITED = { subs: -1, data: -1, payload: -1, conn: -1, imports: -1, exports: -1, wildcards: true };

/** An operator of NATS with two accounts, whose users log in with credentials files: JWTs, which the servers only verify. */
export class NatsOperator {
  readonly #operator = createOperator();
  readonly #system = createAccount();
  readonly #account = createAccount();

  /** The settings of a server. The account's users may query the state of the servers. */
  get settings(): string {
    const subject = '$SYS.REQ.SERVER.PING.VARZ';
    const system = {
      type: 'account',
      limits: UNLIMITED,
      exports: [{ name: 'state', subject, type: 'service', response_type: 'Stream' }],
    };
    const account = {
      type: 'account',
      limits: { ...UNLIMITED, mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 },
      imports: [
        {
          name: 'state',
          subject,
          account: this.#system.getPublicKey(),
          local_subject: 'ts.main.servers',
          type: 'service',
        },
      ],
    };
    const [operatorKey, systemKey] = [this.#operator.getPublicKey(), this.#system.getPublicKey()];
    const accountKey = this.#account.getPublicKey();
    return [
      `operator: ${tokenOf(this.#operator, operatorKey, { type: 'operator', system_account: systemKey })}`,
      `system_account: ${systemKey}`,
      'resolver: MEMORY',
      'resolver_preload: {',
      `  ${systemKey}: ${tokenOf(this.#operator, systemKey, system)}`,
      `  ${accountKey}: ${tokenOf(this.#operator, accountKey, account)}`,
      '}',
    ].join('\n');
  }

  /**
   * Returns the credentials file of a user. @param until the expiry time in UNIX seconds; absent for credentials that do not
   * expire
   */
  credentials(permissions: Partial<Permissions> = {}, until?: number): string {
    const user = createUser();
    const claims = { type: 'user', subs: -1, data: -1, payload: -1, ...permissions };
    const token = tokenOf(this.#account, user.getPublicKey(), claims, until);
    const seed = new TextDecoder().decode(user.getSeed());
    return `-----BEGIN NATS USER JWT-----
${token}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
  }
}

function tokenOf(issuer: KeyPair, subject: string, nats: object, until?: number): string {
  const part = (value: object | Uint8Array) =>
    Buffer.from(value instanceof Uint8Array ? value : JSON.stringify(value)).toString('base64url');
  const times = { iat: 1_700_000_000, ...(until !== undefined && { exp: until }) };
  const claims = { jti: 'test', iss: issuer.getPublicKey(), sub: subject, name: 'test', ...times };
  const body = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part({ ...claims, nats: { ...nats, version: 2 } })}`;
  return `${body}.${part(issuer.sign(Buffer.from(body)))}`;
}
