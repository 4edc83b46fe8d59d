import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { parseConfig } from '../../src/config/load.js';
import { ADMIN_PATHS } from '../../src/wire/paths.js';
import { ROOT } from '../pages.js';

const objects = parseAllDocuments(readFileSync(join(ROOT, 'scripts/deploy/kubernetes.yaml'), 'utf8')).map(
  (document) => document.toJS() as Record<string, unknown>,
);
const object = (kind: string) => objects.find((one) => one['kind'] === kind);

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.literal('admin') }) });
const statefulSet = z.object({
  spec: z.object({
    replicas: z.literal(1),
    template: z.object({
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.literal(1000) }),
        containers: z.tuple([
          z.object({
            ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
            env: z.tuple([z.object({ name: z.string(), valueFrom: z.unknown() })]),
            securityContext: z.object({
              readOnlyRootFilesystem: z.literal(true),
              allowPrivilegeEscalation: z.literal(false),
              capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
            }),
            lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }),
            startupProbe: probe,
            livenessProbe: probe,
            readinessProbe: probe,
            volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
          }),
        ]),
      }),
    }),
  }),
});

test('the configuration of the manifest is valid, and the manifest fits it', async (t) => {
  const { data } = z.object({ data: z.record(z.string(), z.string()) }).parse(object('ConfigMap'));
  const loaded = parseConfig(data['tickseal.yaml']!, 'tickseal.yaml');
  if (!loaded.ok) return t.fail(loaded.errors.join('\n'));
  const { listen, admin, keys, storage } = loaded.config;
  const { spec } = statefulSet.parse(object('StatefulSet')).spec.template;
  const [container] = spec.containers;
  t.same(container.ports, [
    { name: 'prices', containerPort: listen.port },
    { name: 'admin', containerPort: admin.port },
  ]);
  t.same(keys.evm, { env: container.env[0].name });
  t.equal(container.livenessProbe.httpGet.path, ADMIN_PATHS.live);
  t.equal(container.startupProbe.httpGet.path, ADMIN_PATHS.live);
  t.equal(container.readinessProbe.httpGet.path, ADMIN_PATHS.ready);
  const volume = container.volumeMounts.find(({ name }) => name === 'data')!;
  t.ok(
    storage.dir.startsWith(`${volume.mountPath}/`),
    'the service makes the folder itself, closed to others',
  );
  t.ok(spec.terminationGracePeriodSeconds > 5 + 30);
  for (const kind of ['Secret', 'Service', 'PodDisruptionBudget']) t.ok(object(kind), kind);
});
