import type uWS from 'uWebSockets.js';
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

export interface Listening {
  readonly port: number;
  /** Takes no new connections; those that are open stay. */
  stopListening(): void;
  /** Ends everything. */
  close(): void;
}

/** @throws Error when the TLS files cannot be used. */
export function createApp(ws: typeof uWS, { tls }: ListenOptions): TemplatedApp {
  if (tls === undefined) return ws.App();
  try {
    return ws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
  } catch {
    throw new Error(
      `TLS cannot start with ${tls.certFile} and ${tls.keyFile}: are they a certificate and its key?`,
    );
  }
}

/**
 * @param sharing whether other threads that also share the port may listen on it too. Two services would share it
 * silently in the same way, so the default is that nobody may.
 * @throws Error when the address is in use or not ours.
 */
export function listen(
  ws: typeof uWS,
  app: TemplatedApp,
  { host, port }: ListenOptions,
  sharing: 'exclusive' | 'shared' = 'exclusive',
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const onListen = (socket: us_listen_socket | false) => {
      if (!socket) {
        reject(
          new Error(`cannot listen on ${host}:${port}: the address is in use or not one of this machine`),
        );
        return;
      }
      let listening = true;
      const stopListening = () => {
        if (listening) ws.us_listen_socket_close(socket);
        listening = false;
      };
      resolve({
        port: ws.us_socket_local_port(socket as unknown as uWS.us_socket),
        stopListening,
        close: () => {
          stopListening();
          app.close();
        },
      });
    };
    // The typings lack this overload.
    const listenWithOptions = app.listen.bind(app) as unknown as ListenWithOptions;
    listenWithOptions(host, port, PORT_OPTIONS[sharing], onListen);
  });
}

/** `LIBUS_LISTEN_DEFAULT` and `LIBUS_LISTEN_EXCLUSIVE_PORT`. */
const PORT_OPTIONS = { shared: 0, exclusive: 1 };
type ListenWithOptions = (
  host: string,
  port: number,
  options: number,
  callback: (socket: us_listen_socket | false) => void,
) => void;
