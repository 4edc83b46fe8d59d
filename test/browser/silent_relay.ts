import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** A TCP relay that can become silent. Connections of a silent relay stay open, but no byte passes in either direction. */
export interface SilentRelay {
  readonly port: number;
  /**
   * Makes the current connections silent. The relay still forwards later connections. @returns the number of silent connections
   */
  silence(): number;
  /** Makes all current and later connections silent, until `listen` is called. */
  deafen(): void;
  /** Closes the connections that were opened after `deafen`, and forwards all later connections. */
  listen(): void;
  close(): Promise<void>;
}

/**
 * Opens a relay to a port of this machine.
 * @param alter changes the bytes from the target before the client receives them
 */
export async function openSilentRelay(
  targetPort: number,
  alter: (bytes: Buffer) => Buffer = (bytes) => bytes,
): Promise<SilentRelay> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const unheard = new Set<Socket>();
  let isDeaf = false;
  const server = createServer((client) => {
    if (isDeaf) {
      unheard.add(client);
      client.on('error', () => {}).on('close', () => unheard.delete(client));
      return;
    }
    const target = connect(targetPort, '127.0.0.1');
    const pair = [client, target] as const;
    pairs.add(pair);
    client.pipe(target);
    const altered = new Transform({ transform: (bytes: Buffer, _, done) => done(null, alter(bytes)) });
    target.pipe(altered).pipe(client);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const silence = () => {
    for (const [client, target] of pairs) {
      client.unpipe(target).pause();
      target.unpipe().pause();
    }
    return pairs.size;
  };
  const listen = () => {
    isDeaf = false;
    for (const client of unheard) client.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    silence,
    deafen() {
      isDeaf = true;
      silence();
    },
    listen,
    async close() {
      listen();
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
