/**
 * The oldest supported version. Since version 2.14, every server refuses a write that names a wrong predecessor. Version 2.9 accepted some
 * of these writes.
 */
const VERSION_MIN = [2, 14] as const;

/** @returns the reason why a server cannot be used; `undefined` if it can be used */
export function versionProblem(version: string, server: string): string | undefined {
  const [major, minor] = (/^v?(\d+)\.(\d+)\./.exec(version) ?? []).slice(1).map(Number);
  const isEnough =
    major !== undefined &&
    minor !== undefined &&
    (major > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor >= VERSION_MIN[1]));
  if (isEnough) return undefined;
  return `the NATS server at ${server} is version ${version}; ${VERSION_MIN.join('.')} or newer is needed, because older ones accept conflicting writes to the log`;
}
