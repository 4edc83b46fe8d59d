import { PastAnswerer } from '../cluster/node/past_answerer.js';
import { PastAsker } from '../cluster/node/past_asker.js';
import { PastReader } from '../log/past/past_reader.js';
import type { Catalogue } from '../model/catalogue.js';
import type { NodeList } from '../model/node_list.js';
import { openLoopTurns } from '../server/rest/loop_turns.js';
import { PastAccess } from '../server/routes/past_access.js';
import type { ClusterNodeOptions } from './cluster_node_options.js';
import type { AskPast } from './edge/other_pasts.js';
import { pastPlaces } from './edge/read_past.js';

/** The exchange of older signed prices with the other nodes of a cluster. */
export interface PastExchange {
  readonly ask: AskPast;
  close(): Promise<void>;
}

const nowMs = () => performance.now();

/** Opens a node's exchange. Only an aggregator answers questions, because the NATS servers allow this only for aggregators. */
export function exchangePast(
  { bus, parts, settings, member }: ClusterNodeOptions,
  nodes: () => NodeList,
  catalogue: () => Catalogue,
): PastExchange {
  const questions = new PastAsker({ bus, nodes, nowMs });
  const ask: AskPast = (question, tried) => questions.ask(question, tried);
  if (member.role === 'edge') return { ask, close: async () => {} };
  const { clock, store, past } = parts;
  const onDamage = (reason: string) => past.notice(reason);
  const reader = new PastReader({ ...pastPlaces(settings.config.storage, true), onDamage });
  const turns = openLoopTurns();
  const access = new PastAccess({
    past: reader,
    newest: (asset) => store.newest(asset),
    pastTurns: turns,
    onPastDamage: onDamage,
    clock,
  });
  const answers = new PastAnswerer({
    bus,
    node: member.node,
    past: reader,
    turns,
    async isOnDisk({ symbol, signatureType }, atNs) {
      const asset = catalogue().findAsset(symbol, signatureType);
      return asset === undefined || access.isOnDisk(asset, atNs);
    },
    onDamage: onDamage,
    nowNs: () => clock.nowNs(),
    nowMs,
  });
  return {
    ask,
    async close() {
      answers.close();
      await reader.close();
    },
  };
}
