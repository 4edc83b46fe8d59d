import type uWS from 'uWebSockets.js';
import { failure, type RestResponse } from '../http/rest_exchange.js';
import { createApp, type ListenOptions, listen, type OpenPort } from './app.js';
import { writeResponse } from './http.js';
import { claimPort } from './port_claim.js';
import { readRequest } from './received_request.js';
import { withTransportSecurity } from './transport_security.js';

/** The answer to requests while the service starts. */
export const STARTING: RestResponse = {
  ...failure(503, 'the service is starting', [['Retry-After', '1']]),
  closeConnection: true,
};

/**
 * The port of a service that starts. Until the service itself listens, this class answers each request with 503. A client that
 * receives 503 tries again, but a client whose connection is refused may stop. If another service has the port and will hand over
 * the port, the other service answers until this service listens.
 */
export class StartingPort {
  readonly at: ListenOptions;
  readonly #ws: typeof uWS;
  /** The error, if the port is in use. */
  readonly #fault: unknown;
  #listener: OpenPort | undefined;

  private constructor(ws: typeof uWS, at: ListenOptions, fault: unknown) {
    this.#ws = ws;
    this.at = at;
    this.#fault = fault;
  }

  /**
   * @param takeOver true if the port may belong to another service that will hand over the port
   * @throws Error when the address is in use or does not belong to this machine, or TLS cannot start
   */
  static async claim(ws: typeof uWS, at: ListenOptions, takeOver: boolean): Promise<StartingPort> {
    try {
      const port = new StartingPort(ws, { ...at, port: await claimPort(at) }, undefined);
      port.#listen();
      return port;
    } catch (error) {
      if (!takeOver || at.port === 0) throw error;
      return new StartingPort(ws, at, error);
    }
  }

  /** @throws Error when another process has the port and did not hand over the port */
  check(isHandedOver: boolean): void {
    if (this.#fault !== undefined && !isHandedOver) throw this.#fault;
  }

  /** Ends the early listener, because the service itself listens or has failed to start. */
  close(): void {
    void this.#listener?.close();
  }

  #listen(): void {
    const app = createApp(this.#ws, this.at);
    const answer = withTransportSecurity(this.at, STARTING);
    app.any('/*', (res, req) => {
      const { method } = readRequest(res, req);
      writeResponse(res, method, answer);
    });
    this.#listener = listen(this.#ws, app, this.at);
  }
}
