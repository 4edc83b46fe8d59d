import { newClient, type ReaderKind, streamOf } from './gap_reader.js';

// A reader as a process: prints a line for each tick and each gap. The arguments are the address of the service and the kind.

const [url, kind] = process.argv.slice(2) as [string, ReaderKind];
const client = newClient(url);
client.on('gap', ({ fromNs, toNs }) => console.log(`gap ${fromNs} ${toNs}`));
for await (const { price, timestampNs, backfilled } of streamOf(client, kind))
  console.log(`tick ${price} ${timestampNs} ${backfilled}`);
