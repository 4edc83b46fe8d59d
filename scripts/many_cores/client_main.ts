import { requestFor } from '../load/requests.js';
import { openStreams } from '../load/streams.js';
import { READER_ASSETS } from './served.js';

// `client_main.js PORT readers QUERY CONNECTIONS`: readers that answer each message of the parent with the number of their frames.
// `client_main.js PORT requests PATH CONNECTIONS`: connections that request a path for the time in a message, and answer with the number of
// their answers.

const [port, kind, asked = '', connections] = process.argv.slice(2);
process.once('disconnect', () => process.exit());
if (kind === 'requests') {
  process.on('message', async (ms: number) => {
    process.send!((await requestFor(Number(port), asked, Number(connections), ms)).requests);
  });
} else {
  const assetsOf = () => READER_ASSETS;
  const streams = await openStreams({
    port: Number(port),
    query: asked,
    count: Number(connections),
    assetsOf,
  });
  process.on('message', () => {
    if (streams.closed > 0) throw new Error(`the service closed ${streams.closed} connections`);
    process.send!(streams.frames);
  });
}
process.send!('open');
