import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { PrivateKeys } from '../config/private_keys.js';
import type { Simulated } from '../model/asset.js';
import type { Clock } from '../model/time.js';
import type { StartingPort } from '../server/uws/early_listener.js';
import type { WebSocketLibrary } from '../server/uws/native.js';
import type { LoadedThread } from './edge/threads/loaded_thread.js';

export interface ServiceOptions {
  readonly config: Config;
  readonly keys: PrivateKeys;
  /** The content of the file `cluster.credentials`. */
  readonly natsCredentials?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The facts about simulated prices, which every list of assets shows. */
  readonly simulation?: Simulated;
  /** True when the start must ask the running service to hand over the data folder and the ports. */
  readonly takeOver?: boolean;
  /** The version of the program, for the metrics. */
  readonly version?: string;
  /** The commit of the build, for the metrics. */
  readonly commit?: string;
  /**
   * The number of threads that verify and sign. Default: all cores that other threads do not need. With 0, the main thread does this work.
   */
  readonly cryptoThreads?: number;
}

/** The parts that are ready before a starting service asks another service to hand over. */
export interface Prepared {
  readonly port: StartingPort;
  readonly webSockets: WebSocketLibrary;
  readonly threads: { readonly listen: number; readonly crypto: number };
  /** The threads of the edges, if edges have their own threads. */
  readonly loaded: readonly LoadedThread[];
}
