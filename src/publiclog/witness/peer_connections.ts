import type { Server, Socket } from 'node:net';

export interface PeerConnectionsOptions {
  /** Returns the address to which a connection counts; `undefined` for a connection without a limit. */
  readonly peerOf: (address: string) => string | undefined;
  readonly connectionsMax: number;
  readonly onRefused: () => void;
}

const REASON = 'too many connections from this address\n';
const REFUSAL_ANSWER = [
  'HTTP/1.1 429 Too Many Requests',
  'Content-Type: text/plain; charset=utf-8',
  `Content-Length: ${REASON.length}`,
  'Retry-After: 1',
  'Connection: close',
  '',
  REASON,
].join('\r\n');

/** Limits the open connections of each client address, so that no address can use all connections of a server. */
export function limitPeerConnections(server: Server, options: PeerConnectionsOptions): void {
  const { peerOf, connectionsMax, onRefused } = options;
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket.remoteAddress ?? '');
    if (peer === undefined) return;
    const open = counts.get(peer) ?? 0;
    if (open >= connectionsMax) {
      onRefused();
      socket.write(REFUSAL_ANSWER);
      socket.destroySoon();
      return;
    }
    counts.set(peer, open + 1);
    socket.once('close', () => {
      const left = counts.get(peer)! - 1;
      if (left === 0) counts.delete(peer);
      else counts.set(peer, left);
    });
  });
}
