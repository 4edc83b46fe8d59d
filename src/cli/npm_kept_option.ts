/** The options of `serve`, in the form of npm's variables. */
const OPTIONS = ['config', 'data', 'port', 'admin_port', 'live', 'take_over'];

/**
 * Returns the reason why `npm start --port 8180` ignores its option: npm takes options for itself unless `--` stands before them.
 * @param env the environment, in which npm names the options that it took
 * @returns `undefined` if npm took no option of `serve`
 */
export function npmKeptOption(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env['npm_lifecycle_event'] !== 'start') return undefined;
  const kept = OPTIONS.filter((name) => env[`npm_config_${name}`] !== undefined);
  if (kept.length === 0) return undefined;
  const [first] = kept.map((name) => `--${name.replace('_', '-')}`);
  return `npm kept ${first} for itself: put -- before the options, as in: npm start -- ${first} …`;
}
