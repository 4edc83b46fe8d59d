import { readFileSync } from 'node:fs';
import { serve, webSockets } from './web_sockets.js';

/**
 * `uws_route.js FILE`: answers every request with the content of the file. The server uses only
 * uWebSockets.js.
 */
const body = readFileSync(process.argv[2]!);
const app = webSockets.App();
app.get('/*', (res) => {
  res.writeHeader('Content-Type', 'application/json');
  res.end(body);
});
await serve(app);
