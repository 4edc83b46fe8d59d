import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'tap';
import { openBus } from '../../src/cluster/open_bus.js';
import { ROOT } from '../pages.js';
import { natsOptions } from './nats/servers.js';

test('the client of NATS is loaded when a bus is opened, and not before', async (t) => {
  const program = `
    import { createRequire } from 'node:module';
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('@nats-io'));
    await import(${JSON.stringify(join(ROOT, 'dist/src/cli/program.js'))});
    await import(${JSON.stringify(join(ROOT, 'dist/src/service/start.js'))});
    const { openBus } = await import(${JSON.stringify(join(ROOT, 'dist/src/cluster/open_bus.js'))});
    const before = loaded();
    const options = { role: 'edge', servers: ['nats://127.0.0.1:1'], startMsMax: 0, onNotice() {} };
    await openBus(options).catch(() => {});
    console.log(before, loaded());`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  t.equal(output, 'false true\n');
});

test('a bus that cannot be opened says why', async (t) => {
  const options = natsOptions(['nats://127.0.0.1:1'], { startMsMax: 0 });
  await t.rejects(openBus(options), /^no connection to nats:\/\/127\.0\.0\.1:1: /);
});
