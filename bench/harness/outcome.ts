import { median } from '../../scripts/load/statistics.js';
import type { Bound, Line, Measurement, Row, Scale, Source } from './row.js';

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
  /** The variants that this machine does not have, each with the reason. Absent when the bench measured all variants. */
  readonly missing?: readonly string[];
  readonly reached: boolean;
  /** The figures by variant and name. Each figure has one value for each round. */
  readonly rounds: Rounds;
}

export type Rounds = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

export interface LineOutcome {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
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
  readonly reached?: boolean;
}

type Measured = Readonly<Record<string, readonly Measurement[]>>;

/** Computes the medians of a row's rounds, and compares them with the limits. */
export function judge(row: Row, scale: Scale, measured: Measured): RowOutcome {
  const rounds = byFigure(measured);
  const missing = Object.entries(measured).flatMap(([variant, runs]) => {
    const reason = runs.find((run) => run.missing !== undefined)?.missing;
    return reason === undefined ? [] : [{ variant, reason }];
  });
  const isThere = ({ variant }: Source) => !missing.some((one) => one.variant === variant);
  const lines = row
    .lines(scale)
    .filter(isThere)
    .map((line) => judgeLine({ ...line, peers: (line.peers ?? []).filter(isThere) }, rounds));
  const differingHashes = differing(measured);
  const verdicts = lines.flatMap((line) => [line.reached, ...line.peers.map((peer) => peer.reached)]);
  const reached = differingHashes.length === 0 && !verdicts.includes(false);
  return {
    name: row.name,
    title: row.title,
    method: row.method,
    lines,
    ...(!reached && row.limit !== undefined && { limit: row.limit }),
    differingHashes,
    ...(missing.length > 0 && { missing: missing.map(({ variant, reason }) => `${variant}: ${reason}`) }),
    reached,
    rounds,
  };
}

function judgeLine({ name, unit, bound, peers = [], shown = [], ...source }: Line, rounds: Rounds) {
  const ours = figureOf(rounds, source);
  return {
    name,
    unit,
    ours,
    ...(bound && { bound, reached: holds(bound, ours) }),
    peers: peers.map(({ name: peer, ratio: wanted, ...from }): PeerOutcome => {
      const value = figureOf(rounds, from);
      const ratio = ours / value;
      return {
        name: peer ?? from.variant,
        value,
        ratio,
        ...(wanted && { bound: wanted, reached: holds(wanted, ratio) }),
      };
    }),
    shown: shown.map((one) => ({ name: one.name, unit: one.unit, value: figureOf(rounds, one) })),
  } satisfies LineOutcome;
}

/** Returns the median of a figure over its rounds. */
function figureOf(rounds: Rounds, { variant, figure }: Source): number {
  const values = rounds[variant]?.[figure];
  if (values === undefined) throw new RangeError(`variant "${variant}" has no figure "${figure}"`);
  return median(values);
}

function holds(bound: Bound, value: number): boolean {
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;
}

function byFigure(measured: Measured): Rounds {
  const rounds: Record<string, Record<string, number[]>> = {};
  for (const [variant, runs] of Object.entries(measured)) {
    const figures: Record<string, number[]> = {};
    rounds[variant] = figures;
    for (const [figure, value] of runs.flatMap((run) => Object.entries(run.figures))) {
      figures[figure] ??= [];
      figures[figure].push(value);
    }
  }
  return rounds;
}

/** Returns the names of the hashes that are not the same in all runs. */
function differing(measured: Measured): string[] {
  const all = Object.values(measured)
    .flat()
    .flatMap((run) => Object.entries(run.hashes ?? {}));
  const first = new Map(all.toReversed());
  return [...new Set(all.filter(([name, hash]) => first.get(name) !== hash).map(([name]) => name))];
}
