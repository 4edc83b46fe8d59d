import { median, threeDigits } from '../../scripts/load/statistics.js';
import type { Bound, Line, Measurement, Peer, Row, Scale, Source } from './row.js';

/** The result of a row, in the form of `results.json`. */
export interface RowOutcome {
  readonly name: string;
  readonly title: string;
  readonly method: string;
  readonly lines: readonly LineOutcome[];
  /** The explanation of a missed limit; present only if the row misses a limit. */
  readonly limit?: string;
  /** The names of hashes that differ between variants. */
  readonly differingHashes: readonly string[];
  /** The peers that this machine does not have, each with the reason. Absent when the bench measured all peers. */
  readonly missing?: readonly string[];
  /** The hashes on which all variants agree. */
  readonly hashes: Readonly<Record<string, string>>;
  readonly reached: boolean;
  /** The figures by variant and name. Each figure has one value for each round. */
  readonly rounds: Rounds;
}

export type Rounds = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

export interface LineOutcome {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly of?: string;
  readonly bound?: Bound;
  /** Absent if the line has no limit. */
  readonly reached?: boolean;
  readonly peers: readonly PeerOutcome[];
  readonly shown: readonly { readonly name: string; readonly unit: string; readonly value: number }[];
}

export interface PeerOutcome {
  readonly name: string;
  readonly value: number;
  readonly ratio: number;
  readonly bound?: Bound;
  /** The limit that the bare server of the same run misses. {@link bound} then is a share of the bare server's ratio. */
  readonly replaced?: ReplacedBound;
  readonly reached?: boolean;
}

export interface ReplacedBound {
  readonly bound: Bound;
  /** The name of the bare server, and its ratio to the peer. */
  readonly bare: string;
  readonly bareRatio: number;
  /** The share of that ratio which must be reached. */
  readonly share: number;
}

/** Computes the medians of a row's rounds, and compares them with the limits. */
export function judge(
  row: Row,
  scale: Scale,
  measured: Readonly<Record<string, readonly Measurement[]>>,
): RowOutcome {
  const rounds = byFigure(measured);
  const missing = missingOf(measured);
  const lines = row
    .lines(scale)
    .filter(({ ours }) => !missing.has(ours.variant))
    .map((line) => judgeLine(withoutPeers(line, missing), rounds));
  const { hashes, differing } = compareHashes(measured);
  const verdicts = lines.flatMap(({ reached, peers }) => [reached, ...peers.map((peer) => peer.reached)]);
  const reached = differing.length === 0 && !verdicts.includes(false);
  return {
    name: row.name,
    title: row.title,
    method: row.method,
    lines,
    ...(!reached && row.limit !== undefined && { limit: row.limit }),
    differingHashes: differing,
    ...(missing.size > 0 && { missing: [...missing].map(([variant, why]) => `${variant}: ${why}`) }),
    hashes,
    reached,
    rounds,
  };
}

/** Returns the median of a figure over its rounds. */
export function figureOf(rounds: Rounds, { variant, figure }: Source): number {
  const values = rounds[variant]?.[figure];
  if (values === undefined) throw new RangeError(`variant "${variant}" has no figure "${figure}"`);
  return median(values);
}

/** Returns whether a line measures time or memory, for which a smaller value is better. */
export function isCost({ unit, bound, peers }: LineOutcome): boolean {
  const isMost = [bound, ...peers.map((peer) => peer.bound)].some((one) => one && 'atMost' in one);
  return isMost || /^(CPU ms|ms|µs|bytes|MiB)\b/.test(unit);
}

/** Returns the text of a limit for tables. */
export function boundText(bound: Bound): string {
  if ('within' in bound) return `${1 - bound.within} to ${1 + bound.within}`;
  return 'atLeast' in bound ? `≥ ${bound.atLeast}` : `≤ ${bound.atMost}`;
}

/** Returns the text of a peer's limit for tables. */
export function peerBoundText({ bound, replaced }: PeerOutcome): string {
  if (bound === undefined) return '';
  if (replaced === undefined) return boundText(bound);
  const { bare, bareRatio, share } = replaced;
  return (
    `≥ ${threeDigits(share * bareRatio)}: ${share} of ${bare}, ` +
    `which misses ${boundText(replaced.bound)} itself with ${threeDigits(bareRatio)}`
  );
}

/** Returns the reasons for missing measurements, by variant. */
function missingOf(measured: Readonly<Record<string, readonly Measurement[]>>): Map<string, string> {
  const reasons = Object.entries(measured).map(
    ([variant, measurements]) => [variant, measurements.find(({ missing }) => missing)?.missing] as const,
  );
  return new Map(reasons.filter((reason): reason is [string, string] => reason[1] !== undefined));
}

function withoutPeers(line: Line, missing: ReadonlyMap<string, string>): Line {
  return { ...line, peers: line.peers.filter(({ source }) => !missing.has(source.variant)) };
}

function judgeLine(line: Line, rounds: Rounds): LineOutcome {
  const ours = figureOf(rounds, line.ours);
  return {
    name: line.name,
    unit: line.unit,
    ours,
    ...(line.of !== undefined && { of: line.of }),
    ...(line.bound && { bound: line.bound, reached: holds(line.bound, ours) }),
    peers: line.peers.map((peer) => judgePeer(peer, ours, rounds)),
    shown: (line.shown ?? []).map(({ name, unit, source }) => ({
      name,
      unit,
      value: figureOf(rounds, source),
    })),
  };
}

function judgePeer({ name, source, ratio: wanted, bare }: Peer, ours: number, rounds: Rounds): PeerOutcome {
  const value = figureOf(rounds, source);
  const ratio = ours / value;
  if (wanted === undefined) return { name, value, ratio };
  const bareRatio = bare && figureOf(rounds, bare.source) / value;
  if (bare === undefined || bareRatio === undefined || holds(wanted, bareRatio))
    return { name, value, ratio, bound: wanted, reached: holds(wanted, ratio) };
  const bound = { atLeast: bare.atLeast * bareRatio };
  const replaced = { bound: wanted, bare: bare.name, bareRatio, share: bare.atLeast };
  return { name, value, ratio, bound, replaced, reached: holds(bound, ratio) };
}

function holds(bound: Bound, value: number): boolean {
  if ('within' in bound) return Math.abs(value - 1) <= bound.within;
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;
}

function byFigure(measured: Readonly<Record<string, readonly Measurement[]>>): Rounds {
  const rounds: Record<string, Record<string, number[]>> = {};
  for (const [variant, measurements] of Object.entries(measured)) {
    const figures: Record<string, number[]> = {};
    for (const measurement of measurements)
      for (const [figure, value] of Object.entries(measurement.figures)) {
        figures[figure] ??= [];
        figures[figure].push(value);
      }
    rounds[variant] = figures;
  }
  return rounds;
}

function compareHashes(measured: Readonly<Record<string, readonly Measurement[]>>) {
  const hashes: Record<string, string> = {};
  const differing = new Set<string>();
  for (const measurement of Object.values(measured).flat())
    for (const [name, hash] of Object.entries(measurement.hashes ?? {})) {
      hashes[name] ??= hash;
      if (hashes[name] !== hash) differing.add(name);
    }
  for (const name of differing) delete hashes[name];
  return { hashes, differing: [...differing] };
}
