import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parseAllDocuments } from 'yaml';
import { parseConfig } from '../../src/config/load.js';
import { ADMIN_PATHS } from '../../src/wire/paths.js';
import { ROOT } from '../pages.js';

const objects = parseAllDocuments(readFileSync(join(ROOT, 'scripts/deploy/kubernetes.yaml'), 'utf8')).map(
  (document) => document.toJS() as Record<string, unknown>,
);
const object = (kind: string) => objects.find((one) => one['kind'] === kind);

test('the configuration of the manifest is valid, and the manifest fits it', async (t) => {
  const { data } = object('ConfigMap') as { data: Record<string, string> };
  const loaded = parseConfig(data['tickseal.yaml']!, 'tickseal.yaml');
  if (!loaded.ok) return t.fail(loaded.errors.join('\n'));
  const { listen, admin, keys, storage } = loaded.config;
  const probe = (path: string) => ({ httpGet: { path, port: 'admin' } });
  const container = {
    ports: [
      { name: 'prices', containerPort: listen.port },
      { name: 'admin', containerPort: admin.port },
    ],
    env: [{ name: (keys.evm as { env: string }).env }],
    securityContext: {
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    },
    startupProbe: probe(ADMIN_PATHS.live),
    livenessProbe: probe(ADMIN_PATHS.live),
    readinessProbe: probe(ADMIN_PATHS.ready),
  };
  const securityContext = { runAsNonRoot: true, runAsUser: 1000 };
  const set = object('StatefulSet') as { spec: { template: { spec: Pod } } };
  t.match(set, { spec: { replicas: 1, template: { spec: { securityContext, containers: [container] } } } });
  const { containers, terminationGracePeriodSeconds } = set.spec.template.spec;
  const volume = containers[0].volumeMounts.find(({ name }) => name === 'data')!;
  t.ok(storage.dir.startsWith(`${volume.mountPath}/`), 'the service makes the folder, closed to others');
  t.ok(terminationGracePeriodSeconds > 5 + 30);
  for (const kind of ['Secret', 'Service', 'PodDisruptionBudget']) t.ok(object(kind), kind);
});

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly [
    { readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[] },
  ];
}
