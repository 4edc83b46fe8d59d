import type { Config } from '../../config/config.js';
import type { TimedKey } from '../../model/key_schedule.js';
import type { NodeList } from '../../model/node_list.js';

/** The keys with which an edge signs. */
export interface Identity {
  /** The keys of streaming payloads, in the order of their times. Without a key, clients cannot subscribe to signed streams. */
  readonly streamKeys: readonly TimedKey[];
}

/** The state of an edge that commands change. */
export interface EdgeSettings {
  readonly config: Config;
  readonly identity: Identity;
  /** The nodes of the cluster. */
  readonly nodes: NodeList;
}

/** A command to an edge. A command has no answer and is plain data, so an edge on another thread receives it unchanged. */
export type EdgeCommand =
  /** Applies a changed configuration. The sender must send this command before the feed uses any new part of the configuration. */
  | { readonly do: 'reload'; readonly config: Config; readonly identity: Identity }
  | { readonly do: 'setNodes'; readonly nodes: NodeList }
  /** Refuses new connections, or accepts them again. */
  | { readonly do: 'setAccepting'; readonly accepting: boolean }
  /** Prepares for the takeover by another process. From now on, the edge makes no frames and only answers requests. */
  | { readonly do: 'handOver' }
  /** Records that the store received records outside the feed. An edge that reads the store from disk must read the store again. */
  | { readonly do: 'storeChanged' };
