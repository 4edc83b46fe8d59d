import { createRequire } from 'node:module';

// The module that .taprc loads into each test's process. The runner makes each process that a test starts load the runner's
// coverage too, which takes 33 % more CPU time. The floors of the coverage hold without these processes. So this module lets the
// processes start with only the options from the test.

interface StartingProcess {
  readonly env: NodeJS.ProcessEnv;
}

/** The package with which the runner changes the environment of new processes. The package has no types. */
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
