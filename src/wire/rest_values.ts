/** The number of seconds in the past that `/v1/prices/recent` covers. */
export const RECENT_WINDOW_S = 600;

/** The values of `resolution`: minutes, then day, week and month. */
export const RESOLUTIONS = [
  '1',
  '2',
  '5',
  '15',
  '30',
  '60',
  '120',
  '240',
  '360',
  '720',
  'D',
  '1D',
  'W',
  '1W',
  'M',
  '1M',
] as const;
export type Resolution = (typeof RESOLUTIONS)[number];
