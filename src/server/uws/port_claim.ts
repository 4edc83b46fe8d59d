import { type AddressInfo, createServer } from 'node:net';
import { shownText } from '../../config/shown_text.js';

export interface ListenAddress {
  readonly host: string;
  /** The port; 0 selects a free port. */
  readonly port: number;
}

/**
 * Checks that no other process listens on the address. uWebSockets.js does not make this check: it either shares a port without a
 * warning, also with another service, or listens without SO_REUSEADDR. In the latter case, a restart would have to wait a minute
 * for the connections of the former service.
 * @returns the port; a free port for 0
 * @throws UnusableAddress when the address is in use or does not belong to this machine
 */
export async function claimPort(at: ListenAddress): Promise<number> {
  try {
    return await probePort(at);
  } catch (error) {
    throw new UnusableAddress(at, (error as NodeJS.ErrnoException).code);
  }
}

/** Returns the reason why this machine cannot listen on a host with any port, or `undefined`. */
export async function hostProblem(host: string): Promise<string | undefined> {
  try {
    await probePort({ host, port: 0 });
    return undefined;
  } catch (error) {
    return reasonOf(host, (error as NodeJS.ErrnoException).code);
  }
}

/** Listens for a moment. @throws the error of the operating system */
function probePort(at: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ ...at, exclusive: true }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** The error of an address on which the service cannot listen. Its message is one sentence. */
export class UnusableAddress extends Error {
  readonly at: ListenAddress;
  /** True if the operating system reports that another socket listens on the address. */
  readonly isInUse: boolean;
  /** True if the host is at fault, with any port. */
  readonly isOfHost: boolean;

  /** @param code the error of the operating system, if it is known */
  constructor(at: ListenAddress, code?: string) {
    super(`cannot listen on ${shownText(at.host)}:${at.port}: ${reasonOf(at.host, code)}`);
    this.at = at;
    this.isInUse = code === 'EADDRINUSE';
    this.isOfHost = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code ?? '');
  }
}

function reasonOf(host: string, code: string | undefined): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'the address is in use';
    case 'EADDRNOTAVAIL':
      return `no interface of this machine has the address of ${shownText(host)}; 0.0.0.0 listens on all of them`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${shownText(host)} has no address; is it spelled right?`;
    case 'EACCES':
      return 'this user may not open the port; choose one above 1023';
    default:
      return `the address is in use or not one of this machine${code === undefined ? '' : ` (${code})`}`;
  }
}
