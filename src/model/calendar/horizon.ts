import { Temporal } from 'temporal-polyfill';
import type { CalendarDefinition } from './definition.js';

/** The number of days before the last known day from which on the operator is warned. */
const WARNED_DAYS = 31;

/** A calendar whose closures and hours are known for a short time only. */
export interface NearHorizon {
  readonly name: string;
  readonly message: string;
}

/** Returns the operator's calendars that must soon be continued, or that should have been. Built-in calendars follow rules without an end. */
export function nearHorizons(
  definitions: Readonly<Record<string, CalendarDefinition>>,
  unixMs: number,
): NearHorizon[] {
  const today = Temporal.Instant.fromEpochMilliseconds(unixMs).toZonedDateTimeISO('UTC').toPlainDate();
  const warnedUntil = today.add({ days: WARNED_DAYS }).toString();
  return Object.entries(definitions).flatMap(([name, definition]) => {
    const last = knownUntil(definition);
    if (last === undefined || last > warnedUntil) return [];
    const state = last < today.toString() ? 'were known until' : 'are known until';
    return { name, message: `its closures and hours ${state} ${last}: add those after it` };
  });
}

/** Returns the last day for which a calendar is known; `undefined` for one without dates of its own, and for a built-in one. */
function knownUntil({ known_until, sessions, closures, early_closes, late_opens }: CalendarDefinition) {
  if (known_until !== undefined || sessions === undefined) return known_until;
  return [...closures, ...Object.keys(early_closes), ...Object.keys(late_opens)].sort().at(-1);
}
