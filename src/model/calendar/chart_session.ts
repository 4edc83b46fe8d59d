import { MINUTES_PER_DAY } from './schedule.js';
import type { Session, Span, TradingHours } from './trading_hours.js';

const DAYS_PER_WEEK = 7;

/**
 * Returns the usual hours in the form of a chart's `session`, as TradingView defines it: `0400-2000:23456` is from 04:00 to 20:00,
 * Monday to Friday, in the time zone of the hours. Sessions without a gap are joined. A start time that is not before its end time
 * is on the evening before, so `1800-1700:23456` begins on Sunday. This form cannot show statuses, holidays and early closes.
 */
export function chartSession({ week }: TradingHours): string {
  const daysByHours = new Map<string, number[]>();
  for (const [day, spans] of spansByDay(week).entries()) {
    if (spans.length === 0) continue;
    const hours = spans.map(({ fromMin, toMin }) => `${timeText(fromMin)}-${timeText(toMin)}`).join();
    daysByHours.set(hours, [...(daysByHours.get(hours) ?? []), chartDay(day)]);
  }
  return [...daysByHours].map(([hours, days]) => `${hours}:${days.sort().join('')}`).join('|');
}

/**
 * Returns the merged sessions of each weekday, Monday first. A chart's overnight session belongs to the day on which it ends, so a
 * session that ends after midnight moves to the next day.
 */
function spansByDay(week: TradingHours['week']): Span[][] {
  const days: Span[][] = Array.from({ length: DAYS_PER_WEEK }, () => []);
  for (const [day, sessions] of week.entries())
    for (const { fromMin, toMin } of mergedSpans(sessions)) {
      const later = toMin > MINUTES_PER_DAY ? 1 : 0;
      const moved = later * MINUTES_PER_DAY;
      days[(day + later) % DAYS_PER_WEEK]!.push({ fromMin: fromMin - moved, toMin: toMin - moved });
    }
  return days.map((spans) => spans.sort((a, b) => a.fromMin - b.fromMin));
}

/** Joins sessions without a gap, unless the joined session is longer than a day, which is a chart's limit. */
function mergedSpans(sessions: readonly Session[]): Span[] {
  const spans: Span[] = [];
  for (const { fromMin, toMin } of sessions) {
    const last = spans.at(-1);
    if (last?.toMin === fromMin && toMin - last.fromMin <= MINUTES_PER_DAY)
      spans[spans.length - 1] = { fromMin: last.fromMin, toMin };
    else spans.push({ fromMin, toMin });
  }
  return spans;
}

/** Returns the number of a weekday in a chart: 1 is Sunday. @param day 0 is Monday */
function chartDay(day: number): number {
  return ((day + 1) % DAYS_PER_WEEK) + 1;
}

function timeText(minutes: number): string {
  const ofDay = (minutes + MINUTES_PER_DAY) % MINUTES_PER_DAY;
  const digits = (value: number) => String(value).padStart(2, '0');
  return digits(Math.floor(ofDay / 60)) + digits(ofDay % 60);
}
