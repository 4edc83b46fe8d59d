import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { findNatsServer } from '../../src/cli/demo/find_nats_server.js';
import { freePorts } from '../../src/cli/demo/free_ports.js';
import { LOG_START } from '../../src/cluster/bus.js';
import { credentialsOf, SHIPPED_ACCOUNTS } from '../cluster/nats/accounts.js';
import { natsBus, natsServers, needsNatsServer } from '../cluster/nats/servers.js';
import { readPage } from '../pages.js';

/** Returns a part of the configuration of NATS servers from the page. */
function part(name: 'hub' | 'account' | 'region'): string {
  const [, text] = new RegExp(`\`\`\`text ${name}\\n([\\s\\S]*?)\`\`\``).exec(
    readPage('scripts/deploy/CLUSTER.md'),
  )!;
  return text!;
}

const [EDGE_4] = /^ {2}EDGE_4 \{[\s\S]*?^ {2}\}\n/m.exec(SHIPPED_ACCOUNTS)!;

/** Returns the account of the edge on the servers of its region, as documented on the page. */
function edgeInRegion(): string {
  return EDGE_4.replaceAll('account: TICKSEAL', 'account: REGION')
    .replace(/.*"\$JS\.API\.INFO".*\n/, '')
    .replace(/"\$JS\.API\.([^"]*)" \}( \}$)/gm, '"ts.main.api.$1" }, to: "$JS.API.$1"$2')
    .replace(/ \} \}, to/g, ' }, to');
}

test('an edge of a region works over leaf nodes', needsNatsServer(), async (t) => {
  const [leafPort, regionPort] = (await freePorts(2)) as [number, number];
  const hub = part('hub')
    .replace('0.0.0.0:7422', `127.0.0.1:${leafPort}`)
    .replace(/^ {2}tls .*\n/m, '')
    .replace('REGION_PASSWORD_HASH', 'region-secret');
  const { urls } = await natsServers(t, 1, `${SHIPPED_ACCOUNTS.replace(EDGE_4, part('account'))}\n${hub}`);
  const region = part('region')
    .replace(/urls: \[.*\]/, `urls: ["nats-leaf://region:region-secret@127.0.0.1:${leafPort}"]`)
    .replace(/\}\n$/, `${edgeInRegion()}}\n`);
  const dir = t.testdir();
  writeFileSync(join(dir, 'region.conf'), `listen: "127.0.0.1:${regionPort}"\n${region}`);
  const server = spawn(findNatsServer()!, ['-c', join(dir, 'region.conf')], { stdio: 'ignore' });
  t.teardown(() => server.kill('SIGKILL'));

  const bytes = new Uint8Array(10);
  const leader = await natsBus(t, urls, { credentials: credentialsOf(1) });
  await leader.append(LOG_START, 'a-1', bytes);
  for (const topic of ['full.1', 'in.*.1']) leader.answer(topic, async () => bytes);
  const heard: string[] = [];
  leader.listen('node.*.*', (_, topic) => heard.push(topic));
  const edge = await natsBus(t, [`nats://127.0.0.1:${regionPort}`], {
    role: 'edge',
    credentials: credentialsOf(4),
  });
  for (const topic of ['tick', 'node.*.*']) edge.listen(topic, (_, own) => heard.push(`edge ${own}`));
  edge.onCommitted(({ id }) => heard.push(`edge ${id}`));
  t.same((await edge.extent()).last, { sequence: 1, id: 'a-1' });
  t.equal((await edge.read(0)).length, 1);
  for (const topic of ['full.1', 'in.4.1'])
    await eventually(() => edge.ask(topic, bytes, 1_000).catch(() => undefined));
  await leader.append({ sequence: 1, id: 'a-1' }, 'a-2', bytes);
  leader.send('tick', bytes);
  edge.send('node.4.edge', bytes);
  await eventually(() => ['edge a-2', 'edge tick', 'node.4.edge'].every((one) => heard.includes(one)));
});
