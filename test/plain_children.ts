import { createRequire } from 'node:module';

// The module that .taprc loads into each test's process. The runner makes each process that a test starts load its coverage too,
// which takes 33 % more CPU time; the floors of the coverage hold without them. The processes start with the options that the
// test gave them.

interface StartingProcess {
  readonly env: NodeJS.ProcessEnv;
}

/** The package with which the runner changes the environment of processes that start. It has no types. */
const onStart = createRequire(import.meta.url)('process-on-spawn') as {
  addListener(listener: (child: StartingProcess) => void): void;
  prependListener(listener: (child: StartingProcess) => void): void;
};

let given: string | undefined;
onStart.prependListener(({ env }) => {
  given = env['NODE_OPTIONS'];
});
onStart.addListener(({ env }) => {
  if (given === undefined) delete env['NODE_OPTIONS'];
  else env['NODE_OPTIONS'] = given;
});
