import { questionTopic, reportTopic, SERVERS_TOPIC, submitTopic } from '../subjects.js';
import { JETSTREAM_INFO, Names } from './nats_options.js';

/** A password, its bcrypt hash, or the public key of an NKey, which needs no password. */
type NatsLogin = { readonly password: string } | { readonly nkey: string };

export interface NatsUser {
  readonly node: number;
  readonly role: 'aggregator' | 'edge';
  readonly login: NatsLogin;
}

/** The users of the command `nats`: `operator` reads the state of the streams, `system` that of the servers. */
export interface NatsStaff {
  readonly operator: NatsLogin;
  readonly system: NatsLogin;
}

/** Returns the NATS user name of a node. */
export function natsUserName(node: number): string {
  return `node-${node}`;
}

/**
 * The number of connections that the account of each node may have on all servers together. A node uses one. A server may count connections
 * that the network has cut for some minutes, so a node needs more.
 */
const NODE_CONNECTIONS_MAX = 16;
/** The number of subscriptions of one connection. A node uses fewer than ten, and one more for each running read of a stream. */
const SUBSCRIPTIONS_MAX = 64;

/**
 * Returns the `accounts` of the NATS servers of a cluster, in the form of their configuration file.
 *
 * The aggregators share an account. Each edge has its own account, and so has the operator. The server exports the log and the prices to
 * the edges' accounts, and imports the messages and requests of the other accounts. A server does not check the reply subject of a request.
 * But with its own account, an answer to an edge or to the operator cannot leave that account.
 * @param name `cluster.name` of the nodes' configuration
 */
export function natsAccounts(name: string, users: readonly NatsUser[], staff?: NatsStaff): string {
  const makers = users.filter(({ role }) => role === 'aggregator');
  const edges = users.filter(({ role }) => role === 'edge');
  const names = new Names(name);
  return [
    'accounts {',
    '  TICKSEAL {',
    limitsLine(NODE_CONNECTIONS_MAX * Math.max(makers.length, 1)),
    '    jetstream { max_streams: 2, max_consumers: 0 }',
    '    users: [',
    ...makers.flatMap((user) => makerLines(names, user)),
    '    ]',
    '    exports: [',
    ...heardSubjects(names).map((subject) => `      { stream: ${quotedText(subject)} }`),
    ...askedSubjects(names, '*').map(
      ({ subject, isLong }) =>
        `      { service: ${quotedText(subject)}${isLong ? ', response_type: stream' : ''} }`,
    ),
    `      { service: ${quotedText(JETSTREAM_INFO)} }`,
    ...(staff === undefined
      ? []
      : STREAM_LISTS.map((subject) => `      { service: ${quotedText(subject)} }`)),
    '    ]',
    '    imports: [',
    `      { service: { account: SYS, subject: ${quotedText(SERVER_STATES)} }, to: ${quotedText(names.topic(SERVERS_TOPIC))} }`,
    '    ]',
    '  }',
    ...edges.flatMap((user) => edgeLines(names, user)),
    ...(staff === undefined ? [] : operatorLines(names, staff)),
    '  # The account of the servers themselves. The aggregators ask here whether each server syncs each write.',
    '  SYS {',
    `    exports: [{ service: ${quotedText(SERVER_STATES)}, response_type: stream, accounts: [TICKSEAL] }]`,
    ...(staff === undefined
      ? []
      : [
          '    # For `nats server report`.',
          `    users: [{ ${loginEntries('system', staff.system).join(', ')} }]`,
        ]),
    '  }',
    '}',
    'system_account: SYS',
    '',
  ].join('\n');
}

/** The requests with which the CLI `nats` lists the streams. */
const STREAM_LISTS = ['$JS.API.STREAM.NAMES', '$JS.API.STREAM.LIST'];

/** The request for the state of each server. The answer includes the server's setting `sync_interval`. */
const SERVER_STATES = '$SYS.REQ.SERVER.PING.VARZ';

/** Returns the subjects of the messages that an edge receives. */
function heardSubjects(names: Names): string[] {
  return [names.live('*'), names.topic('tick'), names.topic('node.*.*')];
}

interface AskedSubject {
  readonly subject: string;
  /** True when an answer may consist of many messages. */
  readonly isLong: boolean;
}

/**
 * Returns the subjects of the messages and requests that an edge sends.
 * @param node `*` for all edges
 */
function askedSubjects(names: Names, node: number | '*'): AskedSubject[] {
  const streams = [names.logStream, names.candleStream];
  const short = [
    names.topic(reportTopic({ node, role: 'edge' })),
    names.topic(submitTopic(node, '*')),
    names.topic('full.*'),
    names.topic(questionTopic('*', node, '*')),
    ...streams.map((stream) => `$JS.API.STREAM.INFO.${stream}`),
    `$JS.API.STREAM.MSG.GET.${names.logStream}`,
  ];
  const long = streams.map((stream) => `$JS.API.DIRECT.GET.${stream}`);
  return [
    ...short.map((subject) => ({ subject, isLong: false })),
    ...long.map((subject) => ({ subject, isLong: true })),
  ];
}

function makerLines(names: Names, user: NatsUser): string[] {
  const streams = [names.logStream, names.candleStream];
  const api = (request: string, of = streams) => of.map((stream) => `$JS.API.${request}.${stream}`);
  const { node, role } = user;
  return userLines('      ', user, {
    publish: [
      [names.record('*'), names.candles(['>']), names.topic('tick'), names.topic('full.*')],
      [reportTopic({ node, role }), submitTopic(node, '*'), SERVERS_TOPIC].map((one) => names.topic(one)),
      [names.topic(questionTopic('*', node, '*'))],
      api('STREAM.INFO'),
      api('STREAM.CREATE'),
      api('STREAM.UPDATE'),
      api('STREAM.MSG.GET', [names.logStream]),
      api('DIRECT.GET'),
    ],
    subscribe: [
      [...heardSubjects(names), names.topic('full.*'), names.topic(submitTopic('*', '*'))],
      [names.topic(questionTopic('*', '*', node)), '_INBOX.aggregator.>'],
    ],
    more: ['allow_responses: { max: 1, expires: "1m" }'],
  });
}

function operatorLines(names: Names, { operator }: NatsStaff): string[] {
  const streams = [names.logStream, names.candleStream];
  const asked = [...STREAM_LISTS, ...streams.map((stream) => `$JS.API.STREAM.INFO.${stream}`)];
  return [
    '  # For the CLI `nats` of an operator: it reads the state of the streams and changes nothing.',
    '  OPERATOR {',
    limitsLine(NODE_CONNECTIONS_MAX),
    '    users: [',
    ...loginLines('      ', loginEntries('operator', operator), {
      publish: [[JETSTREAM_INFO, ...STREAM_LISTS], asked.slice(2)],
      subscribe: [['_INBOX.operator.>']],
    }),
    '    ]',
    '    imports: [',
    ...importLines('service', [...asked, JETSTREAM_INFO]),
    '    ]',
    '  }',
  ];
}

function edgeLines(names: Names, user: NatsUser): string[] {
  const { node } = user;
  const asked = askedSubjects(names, node).map(({ subject }) => subject);
  return [
    `  EDGE_${node} {`,
    limitsLine(NODE_CONNECTIONS_MAX),
    '    users: [',
    ...userLines('      ', user, {
      publish: [asked.slice(0, 4), asked.slice(4, 7), asked.slice(7)],
      subscribe: [[...heardSubjects(names), '_INBOX.edge.>']],
    }),
    '    ]',
    '    imports: [',
    ...importLines('stream', heardSubjects(names)),
    ...importLines('service', [...asked, JETSTREAM_INFO]),
    '    ]',
    '  }',
  ];
}

/** Returns the limits of an account, with which one stolen credential cannot take all connections of the servers. */
function limitsLine(connections: number): string {
  return `    limits { max_connections: ${connections}, max_subscriptions: ${SUBSCRIPTIONS_MAX} }`;
}

function importLines(kind: 'stream' | 'service', subjects: readonly string[]): string[] {
  return subjects.map(
    (subject) => `      { ${kind}: { account: TICKSEAL, subject: ${quotedText(subject)} } }`,
  );
}

interface Permissions {
  /** The subjects, grouped by line of the configuration file. */
  readonly publish: readonly (readonly string[])[];
  readonly subscribe: readonly (readonly string[])[];
  readonly more?: readonly string[];
}

function userLines(indent: string, { node, login }: NatsUser, permissions: Permissions): string[] {
  return loginLines(indent, loginEntries(natsUserName(node), login), permissions);
}

function loginEntries(user: string, login: NatsLogin): string[] {
  return 'nkey' in login
    ? [`nkey: ${login.nkey}`]
    : [`user: ${user}`, `password: ${quotedText(login.password)}`];
}

function loginLines(
  indent: string,
  login: readonly string[],
  { publish, subscribe, more = [] }: Permissions,
): string[] {
  const list = (name: string, lines: readonly (readonly string[])[]) => [
    `    ${name}: [`,
    ...lines.map((subjects) => `      ${subjects.map(quotedText).join(', ')}`),
    '    ]',
  ];
  return [
    '{',
    ...login.map((line) => `  ${line}`),
    '  permissions {',
    ...list('publish', publish),
    ...list('subscribe', subscribe),
    ...more.map((line) => `    ${line}`),
    '  }',
    '}',
  ].map((line) => `${indent}${line}`);
}

function quotedText(text: string): string {
  return JSON.stringify(text);
}
