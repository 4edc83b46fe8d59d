/** The topic of live prices, from the leader. */
export const TICK_TOPIC = 'tick';
/** The topic on which the NATS servers report their state. The aggregators' account imports this topic from the servers' system account. */
export const SERVERS_TOPIC = 'servers';
/** The topics of the reports of all nodes. */
export const REPORT_TOPICS = 'node.*.*';

/**
 * A node as identified by its message's topic. The NATS servers let each node publish only under its own number and role. A number in a
 * message's text proves nothing about the sender.
 */
export interface Sender {
  readonly node: number;
  readonly role: 'aggregator' | 'edge';
}

/**
 * Returns the topic of a node's reports.
 * @param node `*` for all nodes of the role
 */
export function reportTopic({
  node,
  role,
}: {
  readonly node: number | '*';
  readonly role: Sender['role'];
}): string {
  return `node.${node}.${role}`;
}

/** Returns the sender of a report from the report's topic. */
export function reporterOf(topic: string): Sender {
  const [, node, role] = topic.split('.');
  return { node: Number(node), role: role === 'aggregator' ? role : 'edge' };
}

/**
 * Returns the topic of two requests to an epoch's leader: for all live prices, and for the meaning of its streaming IDs. A request with
 * bytes is of the second kind, and contains the first ID.
 */
export function fullTopic(epoch: number): string {
  return `full.${epoch}`;
}

/**
 * Returns the topic of publishers' messages from a node to an epoch's leader. A previous leader receives no requests, because its epoch is
 * over. `*` stands for all nodes or epochs.
 */
export function submitTopic(node: number | '*', epoch: number | '*'): string {
  return `in.${node}.${epoch}`;
}

/** Returns the number of the node that forwarded a publisher's message, from the message's topic. */
export function submitterOf(topic: string): number {
  return Number(topic.split('.')[1]);
}

/**
 * Returns the topic of questions about the past. `log` asks for files of the public log, `past` for signed aggregates. Only aggregators
 * answer. `*` stands for all subjects or nodes.
 */
export function questionTopic(about: 'log' | 'past' | '*', from: number | '*', to: number | '*'): string {
  return `ask.${about}.${from}.${to}`;
}

/** Returns the number of the node that sent a question, from the question's topic. */
export function askerOf(topic: string): number {
  return Number(topic.split('.')[2]);
}
