/** The environment variable with additional Node options for the command that a row measures, for example to make a profile. */
export const COMMAND_NODE_OPTIONS = 'BENCH_COMMAND_NODE_OPTIONS';

/** Returns the additional Node options of the command that a row measures. */
export function commandNodeOptions(): readonly string[] {
  return process.env[COMMAND_NODE_OPTIONS]?.split(' ') ?? [];
}
