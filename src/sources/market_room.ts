import type { TimeNs } from '../model/time.js';
import { MARKETS } from './adapters/built_in.js';
import type { MarketEvent, MarketSession } from './adapters/market.js';
import { Decider } from './decider.js';
import type { Decision } from './decision.js';
import { answerSession, lineSession } from './json_sessions.js';
import type { SourcesPlan } from './plan.js';
import type { SourceDefinition } from './sources_schema.js';

/**
 * Everything between frames and decisions: reads the frames of each connection, and decides prices. The same calls with the same
 * times give the same decisions, so a recording of them can be replayed.
 */
export class MarketRoom {
  readonly #plan: SourcesPlan;
  readonly #decider: Decider;
  readonly #sessions = new Map<number, MarketSession>();

  constructor(plan: SourcesPlan, write: (line: string, decision: Decision) => void) {
    this.#plan = plan;
    this.#decider = new Decider(plan, write);
  }

  /** Begins a connection of a source. */
  open(connection: number, source: string, symbols: readonly string[]): MarketSession {
    const session = openSession(this.#plan.sources.get(source)!, symbols);
    this.#sessions.set(connection, session);
    return session;
  }

  close(connection: number): void {
    this.#sessions.delete(connection);
  }

  /** Reads a frame, decides what follows from it, and returns its events. */
  read(connection: number, source: string, text: string, receivedNs: TimeNs): readonly MarketEvent[] {
    const events = this.#sessions.get(connection)?.read(text) ?? [];
    for (const event of events) {
      if (event.kind === 'quote') this.#decider.take(source, event.quote, receivedNs);
      else if (event.kind === 'halted') this.#decider.forget(source, receivedNs);
    }
    return events;
  }

  tick(nowNs: TimeNs): void {
    this.#decider.tick(nowNs);
  }

  decisions(nowNs: TimeNs): Decision[] {
    return this.#decider.decisions(nowNs);
  }
}

function openSession(definition: SourceDefinition, symbols: readonly string[]): MarketSession {
  if (definition.kind === 'http') return answerSession(symbols[0]!, definition);
  if (definition.kind === 'command' || definition.kind === 'ccxt') return lineSession(symbols);
  return MARKETS[definition.kind].open(symbols);
}
