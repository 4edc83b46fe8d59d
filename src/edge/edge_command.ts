import type { Config } from '../config/config.js';
import type { NodeList } from '../model/node_list.js';

/** The keys with which an edge signs. */
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

/** A command to an edge that needs no answer: plain data, so that an edge on another thread receives it unchanged. */
export type EdgeCommand =
  /** Applies a changed configuration, before the feed has anything that only the changed one has. */
  | { readonly do: 'reload'; readonly config: Config; readonly identity: Identity }
  | { readonly do: 'setNodes'; readonly nodes: NodeList }
  /** Refuses new connections, or accepts them again. */
  | { readonly do: 'setAccepting'; readonly accepting: boolean }
  /** Another process is about to serve: the edge makes no frames, and only answers requests. */
  | { readonly do: 'handOver' }
  /** The store received records in another way than by the feed: an edge that reads it from disk reads it again. */
  | { readonly do: 'storeChanged' };
