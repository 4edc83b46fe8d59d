import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { SECRET_KEY } from './signed_payload.js';
import { type ListedTaxonomy, withStatement } from './signed_statement.js';

/** A small service that uses the wire protocol over real sockets. A test sees all messages and chooses all answers. */
export interface ContractServer {
  /** The base address, with `ws://`. */
  readonly url: string;
  /** The request paths with their queries, in the order of the connections. */
  readonly paths: string[];
  /** The texts of all messages that arrived. */
  readonly received: string[];
  /** The open sockets. */
  readonly sockets: Set<WebSocket>;
  /** The reasons with which the publisher sockets reject updates, by asset. */
  readonly rejects: Record<string, string>;
  /** The `data` of `/v1/taxonomy`. A test may replace it. */
  taxonomy: ListedTaxonomy & { readonly statement?: unknown };
  /** Called with each new socket. */
  onSocket: (socket: WebSocket) => void;
  /** Sends a text to every open socket. */
  broadcast(text: string): void;
  close(): Promise<void>;
}

export const TOKEN = 'token-of-a-test';
const ASSETS = [
  { asset_id: 1, name: 'BTCUSD', signature_type: 'evm' },
  { asset_id: 2, name: 'ETHUSD', signature_type: 'evm' },
  { asset_id: 20, name: 'EURUSD', signature_type: 'evm' },
  { asset_id: 40, name: 'BTCUSD', signature_type: 'stark' },
  { asset_id: 41, name: 'DYDXUSD', signature_type: 'stark' },
];

const TAXONOMY = { taxonomy_id: 1, assets: ASSETS };

/** @param secretKey the key that signs the statement of the taxonomy */
export async function startContractServer(
  taxonomy: ListedTaxonomy = TAXONOMY,
  secretKey = SECRET_KEY,
): Promise<ContractServer> {
  const http = createServer((request, response) => {
    if (request.headers.authorization !== `Basic ${TOKEN}`) {
      response.writeHead(401).end('{"error":"unknown token"}');
    } else if (request.url === '/v1/taxonomy') {
      response.end(JSON.stringify({ data: server.taxonomy }));
    } else {
      response.writeHead(404).end('{"error":"unknown path"}');
    }
  });
  const sockets = new Set<WebSocket>();
  const server: Omit<ContractServer, 'url'> = {
    paths: [],
    received: [],
    sockets,
    rejects: {},
    taxonomy: withStatement(taxonomy, secretKey),
    onSocket: () => {},
    broadcast(text) {
      for (const socket of sockets) socket.send(text);
    },
    async close() {
      for (const socket of sockets) socket.terminate();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  const upgrades = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    const status = statusOf(request);
    if (status !== 101) {
      socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    upgrades.handleUpgrade(request, socket, head, (client) => {
      server.paths.push(request.url!);
      sockets.add(client);
      client.on('close', () => sockets.delete(client));
      const answer = request.url!.startsWith('/ws')
        ? streamAnswers(new Set(server.taxonomy.assets.map(({ asset_id }) => asset_id)))
        : publisherAnswers(server.rejects, request.url!);
      client.on('message', (data) => {
        server.received.push(String(data));
        for (const reply of answer(String(data))) client.send(JSON.stringify(reply));
      });
      server.onSocket(client);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return Object.assign(server, { url: `ws://127.0.0.1:${port}` });
}

function statusOf({ headers, url = '' }: IncomingMessage): number {
  if (headers.authorization !== `Basic ${TOKEN}`) return 401;
  return /^\/(?:ws|evm\/publish|stark\/publish)(?:\?|$)/.test(url) ? 101 : 404;
}

function streamAnswers(known: ReadonlySet<number>): (text: string) => object[] {
  const subscribed = new Set<number>();
  return (text) => {
    const { type, assets, id, ignore_invalid } = JSON.parse(text);
    if (type === 'ping') return [{ type: 'pong', id }];
    const invalid = type === 'subscribe' ? assets.filter((asset: number) => !known.has(asset)) : [];
    if (invalid.length > 0 && !ignore_invalid)
      return [{ type: 'error', error: `unknown assets: ${invalid}`, id }];
    for (const asset of assets) {
      if (type === 'subscribe' && known.has(asset)) subscribed.add(asset);
      if (type === 'unsubscribe') subscribed.delete(asset);
    }
    return id === undefined ? [] : [{ type, id, assets: [...subscribed].sort((a, b) => a - b), invalid }];
  };
}

function publisherAnswers(
  rejects: Readonly<Record<string, string>>,
  url: string,
): (text: string) => object[] {
  return (text) => {
    const { type, trace_id, data } = JSON.parse(text);
    if (type === 'ping') return [{ type: 'pong' }];
    const rejected = Object.fromEntries(Object.entries(rejects).filter(([asset]) => asset in data));
    const accepted = Object.keys(data).filter((asset) => !(asset in rejects));
    if (url.includes('ack=')) return [{ type: 'ack', trace_id, accepted, rejected }];
    const error = 'updates were rejected';
    return Object.keys(rejected).length > 0 ? [{ type: 'error', trace_id, error, rejected }] : [];
  };
}
