import { requestFor } from './requests.js';

// `requests_main.js PORT PATH CONNECTIONS MS`: a client in a separate process. The client sends the number of answers to its parent.

const [port, path = '', connections, durationMs] = process.argv.slice(2);
const { requests } = await requestFor(Number(port), path, Number(connections), Number(durationMs));
process.send!(requests, () => process.disconnect());
