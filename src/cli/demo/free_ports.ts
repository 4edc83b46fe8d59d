import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * The range of ports. Systems use higher ports for outgoing connections, so no outgoing connection takes one of these ports before
 * the server listens.
 */
const [PORT_MIN, PORT_MAX] = [20_000, 32_000];

/**
 * Returns ports of 127.0.0.1 that were free at the time of the call.
 * @param offsets the distances from each port to further ports that must also be free
 */
export async function freePorts(count: number, offsets: readonly number[] = [0]): Promise<number[]> {
  const max = PORT_MAX - Math.max(...offsets);
  const ports = new Set<number>();
  const taken = new Set<number>();
  for (let tries = 0; ports.size < count; tries++) {
    if (tries === PORT_MAX) throw new Error(`no ${count} free ports between ${PORT_MIN} and ${max}`);
    const port = randomInt(PORT_MIN, max);
    const all = offsets.map((offset) => port + offset);
    if (all.some((one) => taken.has(one))) continue;
    if (!(await Promise.all(all.map(isFree))).every(Boolean)) continue;
    ports.add(port);
    for (const one of all) taken.add(one);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const listener = createServer();
    listener.once('error', () => resolve(false));
    listener.listen(port, '127.0.0.1', () => listener.close(() => resolve(true)));
  });
}
