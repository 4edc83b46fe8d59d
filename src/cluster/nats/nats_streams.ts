import { setTimeout as wait } from 'node:timers/promises';
import {
  JetStreamApiError,
  type JetStreamManager,
  type StreamConfig,
  type StreamInfo,
  type StreamUpdateConfig,
} from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { JETSTREAM_INFO, Names, type NatsOptions } from './nats_options.js';

type StreamSettings = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects' | 'num_replicas'>;

const RETRY_MS = 250;
const NS_PER_MS = 1_000_000;

/**
 * Creates the streams of a cluster. If an existing stream keeps too few copies, or keeps records for too short a time, raises its limits.
 * Never reduces them, because nodes with an older configuration may need the larger limits. An edge only waits until the streams exist.
 * @throws Error whose message is one sentence
 */
export async function prepareStreams(
  manager: JetStreamManager,
  options: NatsOptions,
  endMs: number,
): Promise<void> {
  for (const settings of [logSettings(options), candleSettings(options)]) {
    for (;;) {
      try {
        await prepareStream(manager, settings, options.role === 'aggregator');
        break;
      } catch (error) {
        if (isFinal(error) || performance.now() >= endMs) throw new Error(describeError(error, settings));
        await wait(RETRY_MS);
      }
    }
  }
}

function logSettings({ name, replicas, logRetentionMs }: NatsOptions): StreamSettings {
  const names = new Names(name);
  return {
    name: names.logStream,
    description: 'The log of a tickseal cluster: what is not in it was never signed.',
    subjects: [names.record('>')],
    storage: 'file',
    num_replicas: replicas,
    max_age: logRetentionMs * NS_PER_MS,
    republish: { src: names.record('>'), dest: names.live('>') },
    allow_direct: true,
    deny_delete: true,
    deny_purge: true,
  };
}

function candleSettings({ name, replicas, candleRetentionMs }: NatsOptions): StreamSettings {
  const names = new Names(name);
  return {
    name: names.candleStream,
    description: 'Candles of a tickseal cluster, for nodes that are newer than its log.',
    subjects: [names.candles(['>'])],
    storage: 'file',
    num_replicas: replicas,
    max_age: candleRetentionMs * NS_PER_MS,
    max_msgs_per_subject: 1,
    compression: 's2',
    allow_direct: true,
  };
}

async function prepareStream(
  manager: JetStreamManager,
  settings: StreamSettings,
  mayChange: boolean,
): Promise<void> {
  let info: StreamInfo;
  try {
    info = await manager.streams.info(settings.name);
  } catch (error) {
    if (!isCode(error, STREAM_NOT_FOUND) || !mayChange) throw error;
    info = await manager.streams.add(settings);
  }
  const { config } = info;
  const foreign = (['subjects', 'republish', 'storage', 'max_msgs_per_subject'] as const).find(
    (key) => settings[key] !== undefined && JSON.stringify(config[key]) !== JSON.stringify(settings[key]),
  );
  if (foreign !== undefined)
    throw new ForeignStream(`the stream ${settings.name} is not one of tickseal's: its ${foreign} differ`);
  const grown: Partial<StreamUpdateConfig> = {
    ...(config.num_replicas < settings.num_replicas && { num_replicas: settings.num_replicas }),
    ...(settings.max_age !== undefined &&
      config.max_age !== 0 &&
      config.max_age < settings.max_age && { max_age: settings.max_age }),
  };
  if (mayChange && Object.keys(grown).length > 0) await manager.streams.update(settings.name, grown);
}

class ForeignStream extends Error {
  override readonly name = 'ForeignStream';
}

/** Error codes of JetStream, from `server/errors.json` of nats-server. */
export const STREAM_NOT_FOUND = 10_059;
const NOT_ENABLED_FOR_ACCOUNT = 10_039;
const NO_PLACE = [10_005, 10_023];
const NO_CLUSTER = 10_074;

export function isCode(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

/**
 * Returns whether an error is permanent. The servers of a starting cluster need a few seconds to find each other, so other errors may
 * disappear.
 */
function isFinal(error: unknown): boolean {
  return (
    error instanceof ForeignStream ||
    isCode(error, NO_CLUSTER) ||
    causes(error).some((cause) => cause instanceof errors.PermissionViolationError)
  );
}

function describeError(error: unknown, { name, num_replicas }: StreamSettings): string {
  if (error instanceof ForeignStream) return error.message;
  const { message } = error as Error;
  if (isCode(error, STREAM_NOT_FOUND))
    return `there is no stream ${name}; an aggregator of the cluster makes it`;
  if (isCode(error, ...NO_PLACE, NO_CLUSTER))
    return `cluster.replicas is ${num_replicas}, but the NATS servers cannot keep so many copies of ${name}: ${message}`;
  if (causes(error).some((cause) => isCode(cause, NOT_ENABLED_FOR_ACCOUNT)))
    return `this user has no JetStream: its account in nats.conf lacks the import of ${JETSTREAM_INFO}`;
  if (causes(error).some((cause) => cause instanceof errors.NoRespondersError))
    return noAnswer(`$JS.API.STREAM.INFO.${name}`);
  if (causes(error).some((cause) => cause instanceof errors.PermissionViolationError))
    return `the NATS user may not use the stream ${name}: ${message}`;
  return `the NATS servers give no stream ${name}; do most of them run and reach each other? (${message})`;
}

/** Returns the reason why a request to JetStream has no answer. */
export function noAnswer(subject: string): string {
  return `no NATS server answers ${subject}: the account of this user in nats.conf lacks the import, or is new and the server must be reloaded once more, or JetStream is not enabled on the NATS servers`;
}

function causes(error: unknown): readonly unknown[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : [];
}
