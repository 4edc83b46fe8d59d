import { z } from 'zod';
import { NODE_MAX } from '../model/node_list.js';
import { NS_PER_MS } from '../model/time.js';
import { durationNs, keySource, line } from './schema_values.js';

const SERVERS_MAX = 16;

const server = z
  .string()
  .refine(
    isServerUrl,
    'expected the address of a NATS server without user and password, such as nats://10.0.0.1:4222 or tls://nats.example:4222',
  );

/** The section `cluster` of the configuration file. */
export const clusterSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,31}$/, 'expected a word of lower-case letters, digits and _')
    .prefault('main'),
  role: z.enum(['aggregator', 'edge']),
  node: z.int().min(1).max(NODE_MAX),
  servers: z.array(server).min(1).max(SERVERS_MAX),
  credentials: keySource.optional(),
  tls: z
    .strictObject({ ca_file: line.optional(), cert_file: line.optional(), key_file: line.optional() })
    .refine(
      ({ cert_file, key_file }) => (cert_file === undefined) === (key_file === undefined),
      'expected cert_file and key_file, or neither',
    )
    .optional(),
  replicas: z.union([z.literal(1), z.literal(3), z.literal(5)], { error: 'expected 1, 3 or 5' }).prefault(3),
  verify_records: z.boolean().prefault(false),
  durable: z.enum(['disk', 'memory']).prefault('disk'),
  lease: duration(100, 60_000).prefault('1s'),
  tick_lease: duration(100, 600_000).prefault('12s'),
  feed_timeout: duration(100, 600_000).prefault('10s'),
  log_retention: duration(60_000, 86_400_000).prefault('20m'),
});

function duration(msMin: number, msMax: number) {
  return durationNs({
    minNs: BigInt(msMin) * NS_PER_MS,
    maxNs: BigInt(msMax) * NS_PER_MS,
    stepNs: NS_PER_MS,
  });
}

function isServerUrl(text: string): boolean {
  if (!/^(?:nats|tls):\/\/[^/?#]+\/?$/.test(text) || !URL.canParse(text)) return false;
  const { hostname, username, password } = new URL(text);
  return hostname !== '' && username === '' && password === '';
}
