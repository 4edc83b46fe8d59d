import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** A TCP relay that can become silent. Connections of a silent relay stay open, but no byte passes in either direction. */
export interface SilentRelay {
  readonly port: number;
  /** Makes the present connections silent. Later connections are relayed. @returns the number of silent connections */
  silence(): number;
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
  const server = createServer((client) => {
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
  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      for (const [client, target] of pairs) {
        client.unpipe(target).pause();
        target.unpipe().pause();
      }
      return pairs.size;
    },
    async close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
