import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  errors,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Status,
  type TlsOptions,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { natsKeyAuthenticator } from './nats_key.js';
import type { NatsOptions } from './nats_options.js';
import { serverProblem } from './nats_server_info.js';

const DIAL_MS_MAX = 2_000;
const DIAL_RETRY_MS = 50;
/** The waiting time before the next attempt, after the client has reconnected to a server that cannot be used. */
const REFUSED_RETRY_MS = 1_000;
const PING_MS = 5_000;
const PINGS_UNANSWERED_MAX = 2;
const CLOSE_MS_MAX = 1_000;
const REQUESTS_MAX = 10_000;

/**
 * A connection to one of several servers. When the connection is lost, the client tries the other servers without a time limit. Meanwhile,
 * messages are dropped and requests fail.
 */
export class BusConnection {
  readonly client: NatsConnection;
  /** The prefix of the subjects for answers. Users of one role cannot read the answers to users of the other role. */
  readonly inboxPrefix: string;
  readonly #onNotice: (text: string) => void;
  readonly #requests = new Set<() => void>();
  #isUsable = true;
  #problem: string | undefined;
  #isClosing = false;
  #refusedRecords = 0;

  private constructor(client: NatsConnection, { role, onNotice }: NatsOptions) {
    this.client = client;
    this.inboxPrefix = inboxPrefixOf(role);
    this.#onNotice = onNotice;
    void this.#watch();
  }

  /**
   * Connects to one of the servers.
   * @throws Error whose message is one sentence
   */
  static async open(options: NatsOptions, endMs: number): Promise<BusConnection> {
    const client = await dial(options, endMs);
    const problem = problemOf(client);
    if (problem !== undefined) {
      await client.close();
      throw new Error(problem);
    }
    return new BusConnection(client, options);
  }

  /** The name of the connected server. */
  get server(): string | undefined {
    return this.#isUsable ? this.client.info?.server_name : undefined;
  }

  /** The reason why the server that the client has reached last cannot be used. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The number of messages that arrived in place of a record but are not a record of the stream. */
  get refusedRecords(): number {
    return this.#refusedRecords;
  }

  /**
   * Returns whether a message is a record of this stream, according to the headers from the server. Counts every other message. On request,
   * a server sends records of any stream to any reply subject.
   */
  isRecordOf(stream: string, { headers }: Msg): boolean {
    const isRecord = headers?.get('Nats-Stream') === stream;
    if (!isRecord) this.#refusedRecords += 1;
    return isRecord;
  }

  /** The number of sent bytes that wait for the socket. */
  get waitingBytes(): number {
    const { outbound, transport } = internalsOf(this.client);
    return this.#isUsable ? outbound.size() + (transport.socket?.writableLength ?? 0) : 0;
  }

  publish(subject: string, bytes: Uint8Array, reply?: string): void {
    if (this.#isUsable && !this.#isClosing) this.client.publish(subject, bytes, reply ? { reply } : {});
  }

  /**
   * Sends a request and returns the answer.
   * @throws Error when no process answers on the subject, when the answer does not arrive in time, or when the connection is
   * lost before the answer
   */
  request(subject: string, bytes: Uint8Array, timeoutMs: number, headers?: MsgHdrs): Promise<Msg> {
    if (this.#requests.size >= REQUESTS_MAX) return Promise.reject(new Error('too many requests wait'));
    return this.untilLost(() =>
      this.client.request(subject, bytes, { timeout: timeoutMs, ...(headers && { headers }) }),
    );
  }

  /**
   * Sends a request through the client itself. After a loss of the connection, the client alone would wait for the time limit of the
   * request.
   * @param timeoutMs a time limit that is shorter than the client's own
   * @throws Error when there is no connection, when it is lost before the answer, or when the answer does not arrive in time
   */
  untilLost<T>(ask: () => Promise<T>, timeoutMs?: number): Promise<T> {
    if (!this.#isUsable || this.#isClosing)
      return Promise.reject(new Error('not connected to a NATS server'));
    return new Promise((resolve, reject) => {
      const stop = this.onLost(() => reject(new Error('the connection to the NATS server was lost')));
      const late = () => reject(new Error('the answer is late'));
      const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
      const end = () => {
        stop();
        clearTimeout(timer);
      };
      ask().then(resolve, reject).finally(end);
    });
  }

  /** @returns a function that ends the subscription */
  subscribe(subject: string, listener: (message: Msg) => void): () => void {
    const subscription = this.client.subscribe(subject, {
      callback: (error, message) => {
        if (error) this.#onNotice(`the NATS server refuses a subscription to ${subject}: ${error.message}`);
        else callOutside(listener, message);
      },
    });
    return () => {
      if (!this.client.isClosed()) subscription.unsubscribe();
    };
  }

  /**
   * Calls the listener when the connection is lost.
   * @returns a function that removes the listener
   */
  onLost(listener: () => void): () => void {
    this.#requests.add(listener);
    return () => this.#requests.delete(listener);
  }

  reconnect(): void {
    if (!this.#isUsable) return;
    this.#onNotice(`the connection to ${this.client.getServer()} is given up`);
    this.#drop();
  }

  /** Sends the waiting messages for at most a second, then closes the connection. */
  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    const isDrained = this.#isUsable ? this.client.drain() : Promise.resolve();
    await Promise.race([isDrained.catch(() => {}), wait(CLOSE_MS_MAX, undefined, { ref: false })]);
    internalsOf(this.client).transport.socket?.destroy();
    await this.client.close();
    this.#endRequests();
  }

  async #watch(): Promise<void> {
    for await (const status of this.client.status()) this.#onStatus(status);
  }

  #onStatus(status: Status): void {
    if (status.type === 'disconnect') {
      if (!this.#isClosing && this.#isUsable) this.#onNotice(`the connection to ${status.server} was lost`);
      this.#endRequests();
    } else if (status.type === 'reconnect') {
      const problem = problemOf(this.client);
      this.#problem = problem;
      this.#isUsable = problem === undefined;
      this.#onNotice(problem ?? `connected to ${status.server}`);
      if (problem !== undefined) setTimeout(() => this.#drop(), REFUSED_RETRY_MS).unref();
    } else if (status.type === 'error') {
      this.#onNotice(`the NATS server reports: ${status.error.message}`);
    }
  }

  #endRequests(): void {
    this.#isUsable = false;
    for (const onLost of [...this.#requests]) onLost();
  }

  /**
   * Drops the connection immediately. The client's own method first waits until the socket has taken all bytes, which never happens when
   * the network is cut.
   */
  #drop(): void {
    this.#endRequests();
    // Without a new order, the client would try its first server again.
    const listens = this.client.getServers().map(({ listen }) => listen);
    const next = listens.indexOf(this.client.getServer()) + 1;
    this.client.setServers([...listens.slice(next), ...listens.slice(0, next)]);
    internalsOf(this.client).transport.socket?.destroy();
  }
}

async function dial(options: NatsOptions, endMs: number): Promise<NatsConnection> {
  const { servers, role, credentials, onNotice } = options;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await connect({
        servers: servers.map((server) => new URL(server).host),
        name: `tickseal ${role}`,
        inboxPrefix: inboxPrefixOf(role),
        noRandomize: true,
        ignoreClusterUpdates: true,
        noAsyncTraces: true,
        timeout: DIAL_MS_MAX,
        reconnectTimeWait: DIAL_RETRY_MS,
        reconnectJitter: 0,
        reconnectJitterTLS: 0,
        maxReconnectAttempts: -1,
        ignoreAuthErrorAbort: true,
        pingInterval: PING_MS,
        maxPingOut: PINGS_UNANSWERED_MAX,
        ...(credentials !== undefined && { authenticator: authenticatorOf(credentials) }),
        ...tlsOf(options),
      });
    } catch (error) {
      const message = `no connection to ${servers.join(', ')}: ${(error as Error).message}`;
      const isFinal =
        error instanceof errors.AuthorizationError || error instanceof errors.InvalidArgumentError;
      if (isFinal || performance.now() >= endMs) throw new Error(message);
      if (isFirst) onNotice(`${message}; trying again`);
      await wait(DIAL_RETRY_MS);
    }
  }
}

function inboxPrefixOf(role: NatsOptions['role']): string {
  return `_INBOX.${role}`;
}

/** Returns the TLS options. With `tls`, the client refuses a server without TLS. */
function tlsOf({ servers, tls }: NatsOptions): { tls?: TlsOptions } {
  if (tls === undefined && !servers.some((server) => server.startsWith('tls:'))) return {};
  const hosts = servers.map((server) => new URL(server).hostname.replace(/^\[|\]$/g, ''));
  const options: TlsOptions & Pick<ConnectionOptions, 'checkServerIdentity'> = {
    ...tls,
    // The client does not say which server has the IP address, so the certificate may be of any server in the cluster.
    checkServerIdentity: (_name, certificate) =>
      hosts.map((host) => checkServerIdentity(host, certificate)).reduce((a, b) => a && b),
  };
  return { tls: options };
}

function authenticatorOf(credentials: string): Authenticator {
  const text = credentials.trim();
  // The client reads a credentials file only if its last line ends with a line break.
  if (text.includes('BEGIN NATS USER JWT')) return credsAuthenticator(new TextEncoder().encode(`${text}\n`));
  if (/^SU[A-Z2-7]{56}$/.test(text)) return natsKeyAuthenticator(text);
  const at = text.indexOf(':');
  if (at < 1 || /\s/.test(text))
    throw new Error(
      'the NATS credentials are neither a credentials file, nor an NKey seed, nor user:password',
    );
  return usernamePasswordAuthenticator(text.slice(0, at), text.slice(at + 1));
}

function problemOf(client: NatsConnection): string | undefined {
  return serverProblem(client.info, client.getServer());
}

/**
 * Calls a listener outside of the client's read loop. An exception of the listener would silently end that loop; outside, it is an uncaught
 * exception.
 */
function callOutside(listener: (message: Msg) => void, message: Msg): void {
  try {
    listener(message);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Fields that the client does not export. `nats_connection.whole.test.ts` fails if a new version of the client has moved them. */
interface Internals {
  readonly outbound: { size(): number };
  readonly transport: { readonly socket?: Socket };
}

function internalsOf(client: NatsConnection): Internals {
  return (client as unknown as { readonly protocol: Internals }).protocol;
}
