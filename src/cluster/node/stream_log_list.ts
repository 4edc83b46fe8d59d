import type { LogIdentity, NodeList, NodeLogKey } from '../../model/node_list.js';
import { KEY_TYPES, parseVerifierKey } from '../../tlog/verifier_key.js';

/** The end of the name that a node's log has by default. */
const NODE_NAME = /\/node-(\d+)$/;

/**
 * Lists the logs of streaming payloads of all nodes. A node can only report its own log. A report whose name or key belongs to another
 * log is left out, and when two other nodes report the same name or key, both are left out, because nothing says which node lies.
 * @param own the log of this node
 */
export function listLogs(
  { self, log, streamLogs = [] }: Pick<NodeList, 'self' | 'log' | 'streamLogs'>,
  own: LogIdentity | undefined,
): NodeLogKey[] {
  const ours = own === undefined ? [] : [{ node: self, origin: own.origin, vkey: own.vkey }];
  const known = [...ours, ...(log === undefined ? [] : [log])];
  const valid = streamLogs.filter(
    (one) => one.node !== self && isOwnLog(one) && known.every((other) => !isSameLog(one, other)),
  );
  const others = valid.filter((one) => valid.every((other) => other === one || !isSameLog(one, other)));
  return [...ours, ...others].sort((a, b) => a.node - b.node);
}

function isOwnLog({ node, origin, vkey }: NodeLogKey): boolean {
  const named = NODE_NAME.exec(origin)?.[1];
  if (named !== undefined && Number(named) !== node) return false;
  try {
    const { name, type } = parseVerifierKey(vkey);
    return name === origin && type === KEY_TYPES.signature;
  } catch {
    return false;
  }
}

function isSameLog(one: Pick<NodeLogKey, 'origin' | 'vkey'>, other: typeof one): boolean {
  return one.origin === other.origin || keyOf(one) === keyOf(other);
}

/** Returns the Base64 of the key, which does not depend on the name. */
function keyOf({ origin, vkey }: Pick<NodeLogKey, 'origin' | 'vkey'>): string {
  return vkey.slice(origin.length + '+12345678+'.length);
}
