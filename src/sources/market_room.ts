import type { TimeNs } from '../model/time.js';
import { MARKETS } from './adapters/built_in.js';
import type { MarketEvent, MarketSession } from './adapters/market.js';
import { Decider, type WriteDecision } from './decider.js';
import type { Decision } from './decision.js';
import { answerSession, lineSession } from './json_sessions.js';
import type { SourcesPlan } from './plan.js';
import type { OpenedConnection, RoomState } from './room_state.js';
import type { SourceDefinition } from './sources_schema.js';
import { watchSession } from './watch_session.js';

/**
 * All steps from frames to decisions. The room reads the frames of each connection and decides prices. The same calls at the same times
 * give the same decisions, so a recording of the calls can be replayed.
 */
export class MarketRoom {
  readonly #plan: SourcesPlan;
  readonly #decider: Decider;
  readonly #sessions = new Map<
    number,
    { readonly opened: OpenedConnection; readonly session: MarketSession }
  >();

  constructor(plan: SourcesPlan, write: WriteDecision) {
    this.#plan = plan;
    this.#decider = new Decider(plan, write);
  }

  /** Begins a connection of a source. */
  open(opened: OpenedConnection): MarketSession {
    const session = openSession(this.#plan.sources.get(opened.source)!, opened);
    this.#sessions.set(opened.begin, { opened, session });
    return session;
  }

  close(connection: number): void {
    this.#sessions.delete(connection);
  }

  /** Reads a frame, makes the resulting decisions, and returns the frame's events. */
  read(connection: number, text: string, receivedNs: TimeNs): readonly MarketEvent[] {
    const known = this.#sessions.get(connection);
    if (known === undefined) return [];
    const { source, rest } = known.opened;
    // Over REST, a halted market still returns its last prices.
    if (rest === true && this.#isHalted(source)) return [];
    const events = known.session.read(text);
    for (const event of events) {
      if (event.kind === 'quote')
        this.#decider.take(source, rest ? { ...event.quote, isRepeated: true } : event.quote, receivedNs);
      else if (event.kind === 'halted') this.#decider.forget(source, receivedNs);
    }
    return events;
  }

  /** Notes the wall clock's distance from the clock of all other calls. Lines show times of the wall clock. */
  shift(shiftNs: bigint): void {
    this.#decider.shiftNs = shiftNs;
  }

  /** Decides and writes the prices of all assets, and returns the decisions. */
  tick(nowNs: TimeNs): Decision[] {
    return this.#decider.tick(nowNs);
  }

  decisions(nowNs: TimeNs): Decision[] {
    return this.#decider.decisions(nowNs);
  }

  /** Returns the state on which later decisions depend. */
  state(): RoomState {
    const connections = [...this.#sessions.values()].map(({ opened, session }) => ({
      ...opened,
      resume: session.halt?.(),
    }));
    return { connections, ...this.#decider.state() };
  }

  /** Continues from a state. */
  restore(state: RoomState): void {
    this.#sessions.clear();
    for (const { resume, ...opened } of state.connections) {
      const session = this.open(opened);
      if (resume !== undefined) session.read(resume);
    }
    this.#decider.restore(state);
  }

  #isHalted(source: string): boolean {
    return [...this.#sessions.values()].some(
      ({ opened, session }) => opened.source === source && session.halt?.() !== undefined,
    );
  }
}

function openSession(definition: SourceDefinition, { symbols, rest }: OpenedConnection): MarketSession {
  if (definition.kind === 'http') return answerSession(symbols[0]!, definition);
  if (definition.kind === 'command') return lineSession(symbols);
  if (definition.kind === 'ccxt') return watchSession(symbols);
  const market = MARKETS[definition.kind];
  return rest === true ? answerSession(symbols[0]!, market.top.paths) : market.open(symbols);
}
