import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'tap';
import { registerReload } from '../../src/cli/reload_command.js';
import { freePort } from '../proxies/running_proxies.js';
import { ServeProcess, writeConfig } from '../service/child.js';
import { run } from './run_command.js';

test('a reload is what the service says that it was', async (t) => {
  const file = writeConfig(t.testdir(), { admin: { port: await freePort() } });
  const valid = readFileSync(file, 'utf8');
  const service = new ServeProcess(['--config', file]);
  t.teardown(() => service.kill());
  const { adminUrl } = await service.ready();
  const reload = (pid = service.child.pid!) => run(registerReload, 'reload', file, '--pid', String(pid));
  const ok = { out: 'the service has read its configuration again\n', exitCode: 0 };
  t.match(await reload(), ok);

  const change = (changed: object) =>
    writeFileSync(file, JSON.stringify({ ...JSON.parse(valid), ...changed }));
  change({ limits: { drain: '1s' }, ingest: { max_past: '50ms' } });
  t.match(await reload(), {
    ...ok,
    err: /warning: .*max_past[\s\S]*takes effect at the next start: ingest, limits/,
  });
  change({ keys: { evm: { file: 'missing.hex' } }, assets: [] });
  t.match(await reload(), { out: '', err: /missing\.hex.*there is no such file/, exitCode: 2 });
  change({ nope: 1 });
  t.match(await reload(), { out: '', err: /nope: unknown key/, exitCode: 2 });
  const { data } = (await (await fetch(`${adminUrl}/last_reload`)).json()) as { data: { number: number } };
  t.equal(data.number, 3, 'a file that this command refuses never reaches the service');

  writeFileSync(file, valid);
  t.match(await reload(process.pid), { err: /does not answer at .*: nothing was sent/, exitCode: 1 });
  await service.kill();
  t.match(await reload(), { err: /no service answers at/, exitCode: 1 });
});
