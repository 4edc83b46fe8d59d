import { ALL, acceptSubscribers, serve, webSockets } from './web_sockets.js';

/**
 * `uws_publish.js INTERVAL_MS FRAME`: publishes one frame to every connection at an interval. The server
 * uses only `app.publish` of uWebSockets.js. With interval 0 the connections stay idle.
 */
const [interval = '0', frame = ''] = process.argv.slice(2);
const bytes = Buffer.from(frame);
const app = webSockets.App();
acceptSubscribers(app);
await serve(app);
if (interval !== '0') setInterval(() => app.publish(ALL, bytes, false), Number(interval));
