import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { announce } from './web_sockets.js';

/**
 * `fastify_route.js FILE`: answers every request with the content of the file. The server uses only fastify.
 */
const body = readFileSync(process.argv[2]!, 'utf8');
const app = fastify();
app.get('/*', (_request, reply) => reply.header('Content-Type', 'application/json').send(body));
await app.listen({ host: '127.0.0.1', port: 0 });
announce((app.server.address() as AddressInfo).port);
