import type uWS from 'uWebSockets.js';
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { type ListenAddress, UnusableAddress } from './port_claim.js';

export interface ListenOptions extends ListenAddress {
  readonly tls?: TlsFiles;
}

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface OpenPort {
  readonly port: number;
  /** Stops or resumes accepting new connections. Open connections stay. After {@link close}, this call has no effect. */
  setAccepting(accepting: boolean): void;
  /**
   * Closes the port and all connections immediately, except TLS handshakes that wait for their turn. Resolves when those
   * handshakes are closed too.
   */
  close(): Promise<void>;
}

/**
 * The cipher suites of TLS 1.2 with forward secrecy and authenticated encryption (Mozilla's intermediate list without DHE). Suites with
 * CBC have had padding attacks. TLS 1.3 has only suites with both properties.
 */
const CIPHERS = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305']
  .flatMap((suite) => [`ECDHE-ECDSA-${suite}`, `ECDHE-RSA-${suite}`])
  .join(':');

/** @throws Error when the TLS files cannot be used */
export function createApp(ws: typeof uWS, { tls }: ListenOptions): TemplatedApp {
  if (tls === undefined) return ws.App();
  try {
    return ws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile, ssl_ciphers: CIPHERS });
  } catch {
    throw new Error(
      `TLS cannot start with ${tls.certFile} and ${tls.keyFile}: are they a certificate and its key?`,
    );
  }
}

/** Returns an identifier of the state of the files. An unreadable file also counts as a state. */
export function certificateId({ certFile, keyFile }: TlsFiles): string {
  const hash = createHash('sha256');
  for (const file of [certFile, keyFile]) {
    try {
      hash.update(createHash('sha256').update(readFileSync(file)).digest());
    } catch {
      hash.update('unreadable');
    }
  }
  return hash.digest('hex');
}

/**
 * The number of waiting handshakes that uWebSockets.js continues in each turn of the event loop. If many connections begin a TLS
 * handshake in the same turn, uWebSockets.js makes most of them wait. `app.close()` closes a waiting handshake only after
 * uWebSockets.js has continued it.
 */
const HANDSHAKES_PER_TURN = 5;
/** The largest number of waiting handshakes. Each takes about 50 kB, so all of them take 1 GB. An empty turn takes 2 µs. */
const HANDSHAKES_WAITING_MAX = 20_000;

/**
 * Listens on a claimed port. Other apps of this process may also listen on this port. The port is open when this function
 * returns, and the caller can close the port from then on.
 * @throws Error when the address does not belong to this machine; the app is then closed
 */
export function listen(ws: typeof uWS, app: TemplatedApp, { host, port, tls }: ListenOptions): OpenPort {
  let socket: us_listen_socket | false = false;
  let isClosed = false;
  // uWebSockets.js calls back before `listen` returns.
  const open = (at: number) =>
    app.listen(host, at, (opened) => {
      socket = opened;
    });
  open(port);
  if (!socket) {
    app.close();
    throw new UnusableAddress({ host, port });
  }
  const opened = ws.us_socket_local_port(socket as unknown as uWS.us_socket);
  const setAccepting = (accepting: boolean) => {
    if (isClosed || accepting === (socket !== false)) return;
    if (accepting) open(opened);
    else {
      ws.us_listen_socket_close(socket as us_listen_socket);
      socket = false;
    }
  };
  return {
    port: opened,
    setAccepting,
    async close() {
      setAccepting(false);
      isClosed = true;
      app.close();
      if (tls === undefined) return;
      for (let waiting = HANDSHAKES_WAITING_MAX; waiting > 0; waiting -= HANDSHAKES_PER_TURN) {
        await endOfTurn();
        app.close();
      }
    },
  };
}
