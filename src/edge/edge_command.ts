import type { Config } from '../config/config.js';
import type { NodeList } from '../model/node_list.js';

/** The keys that an edge signs with. */
export interface Identity {
  /** The key of streaming payloads; without one they cannot be subscribed. */
  readonly streamKey: Buffer | undefined;
}

/** The state of an edge that commands change. */
export interface EdgeSettings {
  readonly config: Config;
  readonly identity: Identity;
  /** The nodes of the cluster. */
  readonly nodes: NodeList;
}

/** A command to an edge that needs no answer: data, which go to an edge on another thread as they are. */
export type EdgeCommand =
  /** Puts a changed configuration in force, before anything that only the changed one has is fed. */
  | { readonly do: 'reload'; readonly config: Config; readonly identity: Identity }
  | { readonly do: 'setNodes'; readonly nodes: NodeList }
  /** Takes no new connections, or takes them again. */
  | { readonly do: 'setAccepting'; readonly accepting: boolean }
  /** Another process is about to serve: makes no frames, and only answers requests. */
  | { readonly do: 'handOver' }
  /** The store got records in another way than by the feed: an edge that reads it from disk reads it again. */
  | { readonly do: 'storeChanged' };
