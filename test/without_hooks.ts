import module from 'node:module';
import { isMainThread } from 'node:worker_threads';

// The module that .taprc loads into every test's process before the runner's own modules. The runner registers hooks that note
// each loaded module, for coverage. The hooks run in a thread of their own, which takes 0.5 s of CPU time in each process and in
// each thread that a test starts. Only the coverage of the main thread is used, so other threads register no hooks.

/** The runner's variable, which is 1 with coverage. */
const isCovered = process.env['_TAPJS_PROCESSINFO_COVERAGE_'] === '1';

if (!isCovered || !isMainThread) module.register = () => undefined;
// The processes that a test starts need no module of the runner.
if (isMainThread) delete process.env['NODE_OPTIONS'];
