/** The options of `serve`, in the form of npm's variables. */
const OPTIONS = ['config', 'data', 'port', 'admin_port', 'live', 'take_over'];

/**
 * Returns the reason why `npm start --port 8180` ignores its option: npm keeps options for itself unless `--` precedes them.
 * @param env the environment, in which npm stores the options that it kept
 * @returns `undefined` if npm kept no option of `serve`
 */
export function npmKeptOption(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env['npm_lifecycle_event'] !== 'start') return undefined;
  const kept = OPTIONS.filter((name) => env[`npm_config_${name}`] !== undefined);
  if (kept.length === 0) return undefined;
  const [first] = kept.map((name) => `--${name.replace('_', '-')}`);
  return `npm kept ${first} for itself: put -- before the options, as in: npm start -- ${first} …`;
}
