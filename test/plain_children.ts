import { createRequire } from 'node:module';

// The module that .taprc loads into each test's process. By default, each process that a test starts also loads the runner's
// coverage, which takes 33 % more CPU time. The coverage reaches its thresholds without these processes. So this module starts
// the processes with only the test's own options.

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
