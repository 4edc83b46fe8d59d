import { requestFor } from './requests.js';

// `requests_main.js PORTS PATH CONNECTIONS MS`: a client in a separate process. The client sends the number of answers to its
// parent.

const [ports = '', path = '', connections, durationMs] = process.argv.slice(2);
const each = ports.split(',').map(Number);
const counts = await Promise.all(
  each.map((port) => requestFor(port, path, Number(connections) / each.length, Number(durationMs))),
);
process.send!(
  counts.reduce((sum, { requests }) => sum + requests, 0),
  () => process.disconnect(),
);
