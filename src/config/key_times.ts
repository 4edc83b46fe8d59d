import { NS_PER_MS, type TimeNs } from '../model/time.js';
import type { Config } from './config.js';
import type { Path, Problem } from './document.js';
import { isTimed, SIGNING_KEYS } from './key_source.js';
import type { ReadableFile } from './readable_file.js';

/** The times of an entry of a list of keys, as in the file. */
interface WrittenTimes {
  readonly from?: TimeNs | undefined;
  readonly until?: TimeNs | undefined;
}

/** Finds lists of keys with a gap or an overlap. Each key must end exactly when the next key begins. */
export function* keyTimeProblems({ keys }: ReadableFile): Generator<Problem> {
  for (const name of SIGNING_KEYS) {
    const list = keys[name];
    if (!Array.isArray(list)) continue;
    for (const [index, times] of list.entries()) {
      const path = ['keys', name, index];
      const problem = orderProblem(path, times) ?? nextProblem(path, name, times, list[index + 1], index);
      if (problem !== undefined) yield problem;
    }
  }
}

/** Finds purposes for which no key is valid yet. */
export function* notYetInForce({ keys }: Config, nowMs: number): Generator<Problem> {
  for (const name of SIGNING_KEYS) {
    const sources = keys[name];
    const first = sources !== undefined && isTimed(sources) ? sources[0]! : undefined;
    if (first === undefined || first.fromNs <= BigInt(nowMs) * NS_PER_MS) continue;
    const message = `no key is in force now: the first one begins at ${timeText(first.fromNs)}`;
    yield { path: ['keys', name, 0, 'from'], message };
  }
}

function orderProblem(path: Path, { from, until }: WrittenTimes): Problem | undefined {
  if (from === undefined || until === undefined || from < until) return undefined;
  return { path: [...path, 'until'], message: `not after from, which is ${timeText(from)}` };
}

function nextProblem(
  path: Path,
  name: string,
  { from, until }: WrittenTimes,
  next: WrittenTimes | undefined,
  index: number,
): Problem | undefined {
  const nextName = `keys.${name}[${index + 1}]`;
  if (next === undefined) {
    const message =
      'the last key must have no until, because nothing would be signed after it: add the key that follows';
    return until === undefined ? undefined : { path: [...path, 'until'], message };
  }
  const nextPath = ['keys', name, index + 1, 'from'];
  if (until === undefined && next.from === undefined)
    return { path, message: `needs until, or ${nextName} needs from: when does the next key begin?` };
  if (next.from === undefined) return undefined;
  if (from !== undefined && next.from <= from) {
    const message = `not after the key before it, which begins at ${timeText(from)}: the list is in the order of time`;
    return { path: nextPath, message };
  }
  if (until === undefined || next.from === until) return undefined;
  const message =
    next.from < until
      ? `two keys would sign until ${timeText(until)}, when keys.${name}[${index}] ends: one key signs at a time`
      : `no key would sign from ${timeText(until)}, when keys.${name}[${index}] ends, to this time`;
  return { path: nextPath, message };
}

/** Returns a time in the form of the file. */
export function timeText(timeNs: bigint): string {
  return new Date(Number(timeNs / NS_PER_MS)).toISOString().replace('.000Z', 'Z');
}
