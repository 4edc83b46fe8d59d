/**
 * The oldest supported version. Since version 2.14, every server refuses a write that names a wrong predecessor. Version 2.9 accepted some
 * of these writes.
 */
const VERSION_MIN = [2, 14] as const;
/** The size of the largest message with its headers, which a server counts too. It is the default of NATS servers. */
const PAYLOAD_BYTES_MIN = 1024 * 1024;

/** The part of a server's greeting that a node checks. */
export interface ServerGreeting {
  readonly version: string;
  /** The largest size of a message that the server takes. */
  readonly max_payload: number;
}

/** @returns the reason why a server cannot be used; `undefined` if it can be used */
export function serverProblem(greeting: ServerGreeting | undefined, server: string): string | undefined {
  const { version = 'unknown', max_payload: payloadMax = 0 } = greeting ?? {};
  const [major, minor] = (/^v?(\d+)\.(\d+)\./.exec(version) ?? []).slice(1).map(Number);
  const isNewEnough =
    major !== undefined &&
    minor !== undefined &&
    (major > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor >= VERSION_MIN[1]));
  if (!isNewEnough)
    return `the NATS server at ${server} is version ${version}; ${VERSION_MIN.join('.')} or newer is needed, because older ones accept conflicting writes to the log`;
  if (payloadMax < PAYLOAD_BYTES_MIN)
    return `the NATS server at ${server} takes messages of at most ${payloadMax} bytes, and a record of the log may need ${PAYLOAD_BYTES_MIN}: set max_payload to 1MB on every server`;
  return undefined;
}
