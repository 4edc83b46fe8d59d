import { existsSync } from 'node:fs';
import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';

// The module that .taprc loads into each test's process. Only the service and its clients count for the coverage. Generated
// modules do not count, because the service does not use all of their readers and writers. Bundled programs do not count either,
// because they contain every module of the service a second time. Only bundled programs have no source map. The setting
// `coverage-exclude` of tap would name all these files in a variable of the environment, and Linux refuses to start a process
// with a variable of more than 128 KiB.

const COUNTED = new URL('../src/', import.meta.url).href;

type TakeCoverage = (
  error: Error | null,
  coverage: { readonly result: readonly { readonly url: string }[] },
) => void;

const post = Session.prototype.post as (this: Session, method: string, ...rest: unknown[]) => void;
Session.prototype.post = function (this: Session, method: string, ...rest: unknown[]) {
  const taken = rest.at(-1);
  if (method !== 'Profiler.takePreciseCoverage' || typeof taken !== 'function')
    return post.call(this, method, ...rest);
  const filtered: TakeCoverage = (error, coverage) =>
    taken(error, coverage && { ...coverage, result: coverage.result.filter(({ url }) => isCounted(url)) });
  post.call(this, method, ...rest.slice(0, -1), filtered);
};

function isCounted(url: string): boolean {
  if (!url.startsWith(COUNTED) || url.includes('/generated/')) return false;
  return existsSync(fileURLToPath(`${url}.map`));
}
