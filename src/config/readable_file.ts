import type { CalendarDefinition } from '../model/calendar/definition.js';
import type { ConfigFile } from './schema.js';

/** The parts of a file that fit the schema. A complete {@link ConfigFile} also has this type. */
export interface ReadableFile {
  readonly service: Partial<ConfigFile['service']>;
  readonly listen: Partial<ConfigFile['listen']>;
  readonly admin: Partial<ConfigFile['admin']>;
  readonly keys: Partial<ConfigFile['keys']>;
  readonly tokens: readonly Partial<ConfigFile['tokens'][number]>[];
  readonly assets: readonly Partial<ConfigFile['assets'][number]>[];
  readonly aggregation: Partial<ConfigFile['aggregation']>;
  readonly publishers: readonly Partial<ConfigFile['publishers'][number]>[];
  readonly deployments: readonly Partial<ConfigFile['deployments'][number]>[];
  readonly ingest: Partial<ConfigFile['ingest']>;
  readonly log: Partial<ConfigFile['log']>;
  readonly cluster?: Partial<NonNullable<ConfigFile['cluster']>> | undefined;
  readonly pushed_assets: ConfigFile['pushed_assets'];
  /** The definitions of all calendars in the file, by name. A definition that does not fit the schema is `undefined`. */
  readonly calendars: Readonly<Record<string, CalendarDefinition | undefined>>;
}
