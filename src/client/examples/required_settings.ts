// Settings of the examples. An error ends an example with one line, not with a stack trace.

process.on('uncaughtException', ({ message }) => {
  console.error(message);
  process.exit(1);
});

/** Returns variables of the environment. Ends the program with the names of those that are missing. */
export function settings<Name extends string>(...names: readonly Name[]): Record<Name, string> {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length > 0) {
    console.error(`set ${missing.join(', ')} in the environment`);
    process.exit(2);
  }
  return process.env as Record<Name, string>;
}
