import { isMainThread } from 'node:worker_threads';

// The module that .taprc loads into each test's process. The runner removes a test's folder before a teardown that the test adds later than
// the folder, so a service that still writes there made the removal fail, and then nothing stopped the service. A teardown that comes
// before the folder changes this order for all of them.

if (isMainThread) {
  const { t } = await import('tap');
  t.teardown(() => {});
  t.beforeEach((each) => {
    each.teardown(() => {});
  });
}
