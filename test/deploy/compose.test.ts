import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { registerInit } from '../../src/cli/init_command.js';
import { createProgram } from '../../src/cli/program.js';
import { UNIT_STOP_SECONDS } from '../../src/config/limit_warnings.js';
import { parseConfig } from '../../src/config/load.js';
import { ADMIN_PATHS } from '../../src/wire/paths.js';
import { runCommand } from '../cli/run_command.js';
import { ROOT, readPage } from '../pages.js';

const DEPLOY = join(ROOT, 'scripts/deploy');
const read = (file: string): unknown => parse(readFileSync(join(DEPLOY, file), 'utf8'), { merge: true });

const service = z.object({
  image: z.string(),
  command: z.array(z.string()).default([]),
  hostname: z.string().optional(),
  user: z.string().regex(/^[1-9]\d*:\d+$/, 'expected a user without rights'),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  restart: z.literal('unless-stopped'),
  tmpfs: z.array(z.string()).optional(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()),
  stop_grace_period: z.string().optional(),
  healthcheck: z.unknown().optional(),
});
const names = ['tickseal', 'witness', 'prometheus', 'grafana'] as const;
const { services, volumes } = z
  .object({ services: z.record(z.enum(names), service), volumes: z.record(z.string(), z.unknown()) })
  .parse(read('compose.yaml'));
/** Returns the port inside the container of the only published port. */
const portOf = (name: (typeof names)[number]) => Number(services[name].ports[0]!.split(':').at(-1));

test('what the compose file mounts and runs is there', async (t) => {
  // The page makes these folders.
  for (const folder of ['host', 'witness'])
    t.match(readPage('scripts/deploy/README.md'), `folder \`${folder}\``);
  for (const [name, { volumes: mounted, command }] of Object.entries(services)) {
    for (const volume of mounted) {
      const [source = ''] = volume.split(':');
      const isThere = source.startsWith('./') ? existsSync(join(DEPLOY, source)) : source in volumes;
      t.ok(isThere || ['./host', './witness'].includes(source), `${name}: ${source}`);
    }
    if (services[name as 'tickseal'].image !== 'tickseal') continue;
    const program = await createProgram(command[0]);
    const options = program.commands.find((one) => one.name() === command[0])!.options;
    for (const option of command.filter((one) => one.startsWith('--')))
      t.ok(
        options.some(({ long }) => long === option),
        `${name}: ${option}`,
      );
  }
});

test('the commands of the page make a configuration that fits the compose file', async (t) => {
  const [, args = ''] = / tickseal (init \/etc\/tickseal .*)$/m.exec(readPage('scripts/deploy/README.md'))!;
  const dir = join(t.testdir(), 'host');
  const key = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
  const words = args.replace('/etc/tickseal', dir).replace('KEY', key).split(' ');
  const { exitCode, stderr } = await runCommand(registerInit, words);
  t.equal(exitCode, 0, stderr);
  const loaded = parseConfig(readFileSync(join(dir, 'tickseal.yaml'), 'utf8'), 'tickseal.yaml');
  if (!loaded.ok) return t.fail(loaded.errors.join('\n'));
  const { listen, admin, limits } = loaded.config;
  const { hostname, healthcheck, command, stop_grace_period } = services.tickseal;
  t.same([listen.host, listen.port], ['0.0.0.0', portOf('tickseal')]);
  t.equal(admin.host, hostname);
  t.match(JSON.stringify(healthcheck), `http://${hostname}:${admin.port}${ADMIN_PATHS.ready}`);
  t.equal(command.at(-1), '/etc/tickseal/tickseal.yaml');
  t.equal(stop_grace_period, `${UNIT_STOP_SECONDS}s`);
  t.ok(limits.drainMs <= 5_000, 'sockets are closed within 5 s');

  t.match(read('compose/prometheus.yml'), {
    scrape_configs: [{ job_name: 'tickseal', static_configs: [{ targets: [`${hostname}:${admin.port}`] }] }],
    rule_files: ['alerts.yml'],
  });
  t.match(read('compose/datasources.yaml'), { datasources: [{ url: 'http://prometheus:9090' }] });
  const { providers } = read('compose/dashboards.yaml') as { providers: { options: { path: string } }[] };
  t.match(services.grafana.volumes.join('\n'), `./dashboard.json:${providers[0]!.options.path}/`);
  t.match(readPage('src/tlog/README.md'), `port: ${portOf('witness')}`);
});
