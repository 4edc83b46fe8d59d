import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { type Test, test } from 'tap';
import ts from 'typescript';
import { CLOSES } from '../src/wire/close_codes.js';
import { ADMIN_PATHS, DOCUMENT_PATHS, REST_PATHS, SOCKET_PATHS } from '../src/wire/paths.js';
import { filesBelow, ROOT, section } from './pages.js';

// Tests that enforce the structure of the code (after TigerBeetle's tidy test).

/** Splits a list of names. */
const names = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * The rooms of src: a room is a folder. `uses` has the rooms that a room may import, even for types. A room may import only rooms
 * above it in this table, so imports cannot form a cycle. `shows` is the public face of a room: the modules that other rooms may
 * import. A name with a slash at the end is a folder of such modules. A room without a face shows everything.
 */
const ROOMS: Rooms = {
  wire: { uses: [] },
  model: { uses: names('wire') },
  tlog: { uses: [] },
  clock: { uses: names('model') },
  crypto: {
    uses: names('wire model'),
    shows: names(`
      aggregate_signer algorithm_definition checksum_address evm frame_signer keccak merkle
      native_price_curves pool/jobs pool/line_verifier pool/pool secp256k1/secp256k1
      secp256k1/secp256k1_operations secp256k1/secp256k1_system signatures/signature_rules
      signatures/signature_table stark/stark_tables verdict`),
  },
  log: {
    uses: names('wire model crypto'),
    shows: names(`
      disk/segment feed/byte_ring feed/feed feed/feed_bytes feed/feed_source feed/sent_snapshot
      past/entry_sequence past/hour_paths past/hour_writer past/last_of_each past/lost_range
      past/past_answer past/past_check past/past_entry past/past_question past/past_reader records/
      store/candle_files store/candle_fold store/commit_companion store/contents store/data_folder
      store/folder_copy store/folder_lock store/follower store/forget_log store/kept_candles
      store/log_progress store/log_sizes store/marks store/reader store/store store/store_options
      store/streaming_ids`),
  },
  stream: {
    uses: names('wire model clock'),
    shows: names(`
      aggregate_group aggregate_streams engine fan_out frame_budgets group price_table reader_session
      request signed_frames stream_event stream_options subscriptions`),
  },
  config: {
    uses: names('wire model tlog crypto'),
    shows: names(`
      allowed_origin announced_chain certificates clone cluster_hash config config_format document
      key_source listen_section load log_section loopback named_files private_keys public_url publisher_key
      quantity schema schema_problems schema_values secret_file shown_text stark_use token_hash
      unreadable_file`),
  },
  client: {
    uses: names('wire model tlog crypto'),
    shows: names(`
      client connect/ node node_index prices/ quorum/quorum_options quorum/quorum_tick sign/evm_sign
      sign/sign_price verify/`),
  },
  prices: {
    uses: names('wire model clock crypto log'),
    shows: names(`
      activity aggregator aggregator_options caller_name gate input_verifier message packed_message
      publisher_login publisher_session signature_texts`),
  },
  sources: {
    uses: names('wire model config client'),
    shows: names(`
      adapters/built_in decision_table markets/recorder markets/source_metrics markets/source_run
      parse_sources plan plan_remarks recording source_fault sources_schema`),
  },
  publiclog: {
    uses: names('wire model tlog crypto config client'),
    shows: names(`
      ledger/checkpoint_signer ledger/known_size ledger/ledger ledger/ledger_folder ledger/ledger_reader
      ledger/log_copy ledger/log_start ledger/new_origin ledger/record_form ledger/record_of_aggregate
      ledger/sealed_head ledger/stop_note ledger/waiting_records witness/audit_folder witness/log_audit
      witness/log_file_reader witness/origin_change witness/post_checkpoint witness/price_deadlines
      witness/promised_delay witness/run_witness witness/witness_config`),
  },
  cluster: {
    uses: names('wire model tlog clock log prices publiclog'),
    shows: names(`
      bus leading/term log/log_batch log/log_follower_options log/log_servers log/shared_candles member
      member_options nats/nats_accounts nats/nats_key node/ node_presence open_bus publishers/forwarder
      publishers/submissions ticks/id_mapping ticks/leader_names timing`),
  },
  server: {
    uses: names('wire model crypto log stream config prices publiclog'),
    shows: names(`
      access/caller_rights access/login_verifier access/shared_access access/ticket_issuer admin
      http/own_hosts rest/loop_turns rest/route routes/index routes/instant_route routes/older_prices
      routes/past_access server uws/app uws/certificate_end uws/early_listener uws/file_handles uws/machine
      uws/native uws/open_sockets uws/port_claim`),
  },
  service: {
    uses: names('wire model tlog clock crypto log stream config prices publiclog cluster server'),
    shows: names('deleted_data formats known_ids service start'),
  },
  cli: {
    uses: names('wire model tlog clock crypto log config client sources publiclog cluster server service'),
  },
};

/** The imports of the rooms inside the larger rooms. A file next to these folders is a separate room. */
const INNER_ROOMS: Readonly<Record<string, InnerRooms>> = {
  log: {
    disk: [],
    records: [],
    store: names('disk records'),
    past: names('disk records'),
    feed: names('records'),
  },
  publiclog: { ledger: [], witness: [] },
  crypto: {
    verdict: [],
    evm_signers: [],
    algorithm_definition: [],
    wasm: [],
    secp256k1: [],
    keccak: names('wasm'),
    stark: names('verdict'),
    merkle: names('keccak'),
    checksum_address: names('keccak'),
    evm: names('evm_signers wasm secp256k1 keccak'),
    evm_verifier: names('verdict evm_signers wasm secp256k1 evm'),
    pool: names('verdict secp256k1 keccak stark merkle evm evm_verifier'),
    frame_signer: names('pool'),
    signatures: names('verdict secp256k1 stark checksum_address evm evm_verifier pool'),
    aggregate_signer: names('algorithm_definition merkle pool signatures'),
    native_price_curves: names('secp256k1 keccak stark'),
  },
  cluster: {
    bus: [],
    generated: [],
    subjects: [],
    timing: [],
    unreadable: [],
    log: names('bus generated timing unreadable'),
    ticks: names('bus generated subjects timing unreadable'),
    publishers: names('bus generated subjects unreadable'),
    leading: names('bus timing log ticks'),
    node_report: names('unreadable log subjects'),
    node_presence: names('bus subjects timing node_report'),
    nats: names('bus log subjects unreadable'),
    open_bus: names('nats'),
    member_options: names('bus timing log ticks leading'),
    member: names('bus log ticks leading node_report node_presence member_options'),
    node: names('bus subjects unreadable log ticks leading node_report member'),
  },
  client: {
    verify: [],
    sign: names('verify'),
    connect: names('verify sign'),
    prices: names('verify sign connect'),
    client: names('connect prices'),
    quorum: names('verify connect prices client'),
    index: names('verify sign connect prices client quorum'),
    node_index: names('connect prices client quorum index'),
    node: names('connect sign prices client quorum node_index'),
    tlog_index: names('verify'),
    signers: names('verify connect'),
    signers_index: names('signers'),
    page: names('verify/verify_worker index'),
    examples: [],
  },
  server: {
    http: [],
    access: names('http'),
    schemas: [],
    connections: names('http access'),
    rest: names('http access'),
    documents: names('rest schemas'),
    routes: names('access rest schemas documents'),
    live_page: names('http access'),
    uws: names('http connections'),
    admin: names('http uws'),
    server: names('access connections rest live_page uws'),
  },
};

/** The imports from this repository that files outside src may use. The first matching row counts. */
const BESIDE_SRC: readonly { readonly files: RegExp; readonly mayImport: RegExp }[] = [
  { files: /^bench\//, mayImport: /^(?:src|bench|scripts\/load)\// },
  { files: /^scripts\/load\//, mayImport: /^(?:src|scripts\/load)\// },
  { files: /^test\/bench\//, mayImport: /^(?:src|bench|scripts\/load|test)\// },
  { files: /^(?:scripts|test)\//, mayImport: /^(?:src|scripts|test)\// },
];

const ROOMS_MAX = 16;
/** The largest number of pairs of rooms of which one imports the other. */
const ARROWS_MAX = 75;
const INNER_ROOMS_MAX = 16;

/** Packages that only these modules may import. */
const OWNED_PACKAGES: Readonly<Record<string, RegExp>> = {
  'uWebSockets.js': /^server\//,
  'hyparquet-writer': /^log\/records\/parquet_rows\.ts$/,
  piscina: /^crypto\/pool\/threads\.ts$/,
  koffi: /^crypto\/secp256k1\/secp256k1_system\.ts$/,
  ws: /^client\/(?:connect\/(?:bounded_socket|node_platform)|examples\/\w+)\.ts$/,
  '@nats-io/transport-node': /^cluster\/nats\//,
  '@nats-io/jetstream': /^cluster\/nats\//,
};

/** The rooms that read answers of foreign services. */
const READING_ROOMS = /^(?:client(?!\/examples\/)|cli|publiclog|sources|service(?!\/edge\/))\//;
/** The only modules that read such answers, and those that use the same words for something else. */
const FOREIGN_DOORS = new Set([
  'client/connect/bounded_fetch.ts',
  'client/connect/bounded_socket.ts',
  'client/connect/platform.ts',
  // Answers of a worker and of the own disk, and the browser's function for the client.
  'client/verify/verify_worker.ts',
  'client/page/login_view.ts',
  'client/page/paced_fetch.ts',
  // Serve requests, send none.
  'cli/metrics_listener.ts',
  'publiclog/witness/witness_listener.ts',
]);
const FOREIGN_GLOBALS = new Set(['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'globalThis']);
const BODY_READERS = new Set(['text', 'json', 'arrayBuffer', 'blob', 'formData', 'bytes', 'getReader']);
const FOREIGN_MODULES = /^(?:node:)?(?:https?|http2|undici|ws)$/;
/** The modules that may parse JSON of others without its bounds: their texts are files of this machine, or are bounded before. */
const OWN_JSON = /^client\/verify\/(?:foreign_json|exact_json)\.ts$/;

/**
 * The modules that only compute. These modules use no clock, process, timer, file, socket or thread. Some modules are
 * exceptions: `client/connect/platform` has the functions that the client takes from browsers, and
 * `client/connect/node_platform` and `bounded_socket` have those from Node. `client/page` is a browser's program, and `client/examples` are programs
 * of users.
 */
const PURE =
  /^(?:wire|model|prices|tlog|log\/records|stream|sources(?!\/markets\/)|cluster(?!\/(?:nats|node)\/)|client(?!\/(?:connect\/(?:(?:node_)?platform|bounded_socket)\.ts|page\/|examples\/))|crypto(?!\/(?:pool\/(?:threads|pool|worker)|secp256k1\/secp256k1(?:_native|_system)?)\.ts))\//;
const PURE_BUILTINS = ['node:assert', 'node:assert/strict', 'node:crypto', 'node:zlib'];
const EFFECTS = new Set([
  'Date',
  'performance',
  'process',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'fetch',
  'WebSocket',
  'Worker',
  'console',
]);

/** File names that several rooms may share. The entry of a room is named after its role and not after its subject. */
const SHARED_FILE_NAMES = new Set(['index.ts', 'main.ts']);
const LINES_MAX = 300;
/** Parts of these words are in brackets, so that this file does not violate its own rule. */
const UNFINISHED = /\b(?:TO[D]O|FIX[M]E)\b/;
const VAGUE_NAME = /^(?:utils?|helpers?|commons?|types?)$/i;

/** The modules of the commands that may write to a terminal or a pipe. */
const OUTPUT_WRITERS = ['cli/shown_line.ts', 'cli/progress_line.ts'];
/** A write to a stream of the process, directly, by commander or by the console. */
const OUTPUT = /\b(?:stdout|stderr|stream)\??\s*\.\s*(?:write|end)\b|\bwrite(?:Out|Err)\b|\bconsole\b/g;

type Rooms = Readonly<Record<string, Room>>;

interface Room {
  readonly uses: readonly string[];
  readonly shows?: readonly string[];
}

/** The rooms inside a room, with the rooms or modules that each may import. */
type InnerRooms = Readonly<Record<string, readonly string[]>>;

interface Import {
  readonly specifier: string;
}

interface Module {
  /** The path relative to src, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly source: ts.SourceFile;
  readonly imports: readonly Import[];
}

const modules = filesBelow('src', /\.ts$/).map(readModule);
const written = modules.filter(({ path }) => !path.includes('/generated/'));

test('imports go one way', async (t) => {
  t.ok(Object.keys(ROOMS).length <= ROOMS_MAX, `at most ${ROOMS_MAX} rooms`);
  const uses = Object.fromEntries(Object.entries(ROOMS).map(([room, row]) => [room, row.uses]));
  t.ok(Object.values(uses).flat().length <= ARROWS_MAX, `at most ${ARROWS_MAX} arrows`);
  keepsTo(t, '', uses);
  for (const [room, inner] of Object.entries(INNER_ROOMS)) {
    t.ok(Object.keys(inner).length <= INNER_ROOMS_MAX, `at most ${INNER_ROOMS_MAX} rooms in ${room}`);
    keepsTo(t, `${room}/`, inner);
  }
});

test('a room imports only the public faces of other rooms', async (t) => {
  const used = new Set<string>();
  const strays = modules.flatMap((module) =>
    importsOf(module)
      .filter((target) => roomOf(target) !== roomOf(module.path))
      .filter((target) => {
        const room = roomOf(target);
        const shows = ROOMS[room]?.shows;
        const name = target.slice(room.length + 1).replace(/\.ts$/, '');
        const entry = shows?.find((one) => (one.endsWith('/') ? name.startsWith(one) : one === name));
        used.add(`${room}/${entry}`);
        return shows !== undefined && entry === undefined;
      })
      .map((target) => `${module.path} imports ${target}`),
  );
  t.same(strays, []);
  const unused = Object.entries(ROOMS)
    .flatMap(([room, { shows = [] }]) => shows.map((entry) => `${room}/${entry}`))
    .filter((entry) => !used.has(entry));
  t.same(unused, [], 'every entry of a face is in use');
});

test('the live page stands on packages, the client, the paths and the signature types of the service alone', async (t) => {
  const strays = modules
    .filter(({ path }) => path.startsWith('client/page/'))
    .flatMap((module) => importsOf(module).map((target) => `${module.path} imports ${target}`))
    .filter(
      (line) =>
        !/ imports (?:client\/(?:page\/|index\.|verify\/verify_worker\.)|wire\/(?:paths|signatures)\.)/.test(
          line,
        ),
    );
  t.same(strays, []);
});

test('load generation is in scripts/load, and nothing but its test depends on bench', async (t) => {
  const files = ['bench', 'scripts', 'test'].flatMap((folder) => filesBelow(folder, /\.ts$/));
  const strays = files.flatMap((file) => {
    const { mayImport } = BESIDE_SRC.find((row) => row.files.test(file))!;
    return importedBy(readFileSync(join(ROOT, file), 'utf8'))
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => resolveImport(file, specifier))
      .filter((target) => target.includes('/') && !mayImport.test(target))
      .map((target) => `${file} imports ${target}`);
  });
  t.same(strays, []);
});

test('no modules import each other in a circle', async (t) => {
  const targets = new Map(modules.map((module) => [module.path, importsOf(module)]));
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) circles.push([...way, path].join(' → '));
    else if (!done.has(path)) for (const target of targets.get(path) ?? []) visit(target, [...way, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  t.same(circles, []);
});

test('packages with an owner are imported by it alone', async (t) => {
  for (const [name, owner] of Object.entries(OWNED_PACKAGES)) {
    const users = modules.filter(({ imports }) => imports.some(({ specifier }) => specifier === name));
    t.ok(users.length > 0, `${name} is in use`);
    t.same(
      users.map(({ path }) => path).filter((path) => !owner.test(path)),
      [],
      name,
    );
  }
});

test('answers of foreign services come through one bounded fetch and one bounded socket', async (t) => {
  const strays = modules
    .filter(({ path }) => READING_ROOMS.test(path) && !FOREIGN_DOORS.has(path))
    .flatMap(({ path, source }) => foreignReadsIn(source).map((read) => `${path} reads with ${read}`));
  t.same(strays, []);
  for (const text of [
    'await fetch(url)',
    'globalThis.fetch(url)',
    "globalThis['fetch'](url)",
    'const { fetch: send } = globalThis',
    'platform.fetch(url)',
    'send(response.text())',
    'await (await open()).json()',
    'new WebSocket(url)',
    'new window.WebSocket(url)',
    "import { request } from 'node:https'",
    "import { WebSocket } from 'ws'",
    "await import('node:http')",
  ])
    t.not(foreignReadsIn(ts.createSourceFile('a.ts', text, ts.ScriptTarget.ES2023, true)).length, 0, text);
  const parsed = modules
    .filter(({ path }) => /^client\//.test(path) && !OWN_JSON.test(path))
    .filter(({ source }) => nodesOf(source).some((node) => ts.isCallExpression(node) && isJsonParse(node)))
    .map(({ path }) => path);
  t.same(parsed, [], 'the client parses JSON with parseForeignJson or parseExactJson');
});

test('what computes has no effects, and the client needs no Node', async (t) => {
  const effects = modules
    .filter(({ path }) => PURE.test(path))
    .flatMap(({ path, source, imports }) => {
      const builtins = /^(?:wire|client)\//.test(path) ? [] : PURE_BUILTINS;
      return [
        ...imports
          .filter(({ specifier }) => specifier.startsWith('node:') && !builtins.includes(specifier))
          .map(({ specifier }) => `${path} imports ${specifier}`),
        ...effectsIn(source).map((name) => `${path} uses ${name}`),
      ];
    });
  t.same(effects, []);
});

test('what goes over a socket is said in one place, which imports nothing', async (t) => {
  const outside = modules
    .filter(({ path }) => path.startsWith('wire/'))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => !specifier.startsWith('./'))
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
  t.same(outside, []);
  const texts = new Set<string>([
    ...SOCKET_PATHS,
    ...Object.values(REST_PATHS),
    ...Object.values(DOCUMENT_PATHS),
    ...Object.values(ADMIN_PATHS),
  ]);
  const codes = new Set(Object.values(CLOSES).map(({ code }) => String(code)));
  const repeated = written
    .filter(({ path }) => !path.startsWith('wire/'))
    .flatMap(({ path, source }) =>
      nodesOf(source)
        .filter(
          (node) =>
            (ts.isStringLiteralLike(node) && texts.has(node.text)) ||
            (ts.isNumericLiteral(node) && codes.has(node.text)),
        )
        .map((node) => `${path}:${lineOf(source, node)} ${node.getText()}`),
    );
  t.same(repeated, []);
});

test('files are short, finished and named after what they are about', async (t) => {
  const long = written.filter(({ text }) => text.split('\n').length - 1 > LINES_MAX);
  t.same(
    long.map(({ path }) => path),
    [],
    `at most ${LINES_MAX} lines`,
  );
  const files = ['src', 'test', 'scripts', 'bench'].flatMap((folder) => filesBelow(folder, /\.(?:ts|fbs)$/));
  const isVague = (file: string) =>
    file.split('/').some((name) => VAGUE_NAME.test(name.replace(/\..*$/, '')));
  t.same(files.filter(isVague), [], 'names');
  const isUnfinished = (file: string) => UNFINISHED.test(readFileSync(join(ROOT, file), 'utf8'));
  t.same(files.filter(isUnfinished), [], 'unfinished');
});

test('a name means one thing', async (t) => {
  const files = written
    .map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
    .filter((name) => !SHARED_FILE_NAMES.has(name));
  t.same(repeatedIn(files), [], 'file names');
  const types = written.flatMap(({ source }) => source.statements.filter(isTypeDeclaration));
  const names = types.map(({ name }) => name!.text);
  t.same(repeatedIn(names), [], 'names of classes, interfaces and types');
  t.same(withPlural(files.map((name) => name.replace('.ts', ''))), [], 'files whose names differ by an s');
  for (const room of Object.keys(ROOMS)) {
    const inside = written.filter(({ path }) => path.startsWith(`${room}/`));
    const declared = inside.flatMap(({ source }) => source.statements.filter(isTypeDeclaration));
    t.same(
      withPlural(declared.map(({ name }) => name!.text)),
      [],
      `types of ${room} whose names differ by an s`,
    );
  }
});

test('commands write only lines that show no text of a service as their own', async (t) => {
  const writers = modules
    .filter(({ path }) => path.startsWith('cli/') && !OUTPUT_WRITERS.includes(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(OUTPUT)].map(
        ({ 0: found, index }) => `${path}:${text.slice(0, index).split('\n').length} ${found}`,
      ),
    );
  t.same(writers, []);
});

test('the page about src names every room', async (t) => {
  const rooms = [...section('src/README.md', 'Rooms').matchAll(/^\| `(\w+)\/` /gm)].map(([, room]) => room);
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  t.same(rooms.sort(), folders.map(({ name }) => name).sort());
});

test('the page about src names every package, and nothing but packages in use', async (t) => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>;
  const packages = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section('src/README.md', 'Packages')) ?? [];
  const listed = [...table.matchAll(/^\| (\S+) \| /gm)].map(([, name]) => name).slice(1);
  t.same(listed.sort(), packages.filter((name) => !name.startsWith('@types/')).sort());
});

test('the lock file names no host that packages come from', async (t) => {
  t.notMatch(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'), '"resolved": "http');
});

/** @param folder the folder of the rooms, with a slash at the end */
function keepsTo(t: Test, folder: string, rooms: InnerRooms): void {
  const roomIn = (path: string) => path.slice(folder.length).replace(/\.ts$/, '').split('/')[0]!;
  const names = Object.keys(rooms);
  const backward = Object.values(rooms).flatMap((allowed, place) =>
    allowed.filter((entry) => !names.slice(0, place).includes(roomIn(folder + entry))),
  );
  t.same(backward, [], 'every row names rooms above it');
  const inside = modules.filter(({ path }) => path.startsWith(folder));
  t.same([...new Set(inside.map(({ path }) => roomIn(path)))].sort(), names.sort(), 'every room has a row');
  const used = new Set<string>();
  const strays = inside.flatMap(({ path, imports }) => {
    const room = roomIn(path);
    return imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => resolveImport(path, specifier))
      .filter((target) => target.startsWith(folder) && roomIn(target) !== room)
      .filter((target) => {
        const entry = rooms[room]?.find((one) =>
          one.includes('/') ? `${folder}${one}.ts` === target : one === roomIn(target),
        );
        if (entry !== undefined) used.add(`${room} ${entry}`);
        return entry === undefined;
      })
      .map((target) => `${path} imports ${target}`);
  });
  t.same(strays, []);
  const unused = names.flatMap((room) =>
    rooms[room]!.map((entry) => `${room} ${entry}`).filter((row) => !used.has(row)),
  );
  t.same(unused, [], 'every entry of a row is in use');
}

type TypeDeclaration =
  | ts.ClassDeclaration
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.EnumDeclaration;

function isTypeDeclaration(node: ts.Node): node is TypeDeclaration {
  return (
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isEnumDeclaration(node)
  );
}

/** Returns the room of a module. */
function roomOf(path: string): string {
  return path.split('/')[0]!;
}

function repeatedIn(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, place) => names.indexOf(name) !== place))];
}

/** Returns the names that also occur with an s at the end. */
function withPlural(names: readonly string[]): string[] {
  const all = new Set(names);
  return [...all].filter((name) => all.has(`${name}s`));
}

function readModule(file: string): Module {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  return { path: file.slice('src/'.length), text, source, imports: importedBy(text) };
}

/** Returns the imports of a module. Only its tokens are read, because parsing all files of the repository takes seconds. */
function importedBy(text: string): Import[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => ({ specifier: fileName }));
}

const nodesKnown = new Map<ts.Node, readonly ts.Node[]>();

/** Returns the node and all nodes below it. */
function nodesOf(node: ts.Node): readonly ts.Node[] {
  const known = nodesKnown.get(node);
  if (known !== undefined) return known;
  const nodes: ts.Node[] = [];
  const visit = (next: ts.Node): void => {
    nodes.push(next);
    ts.forEachChild(next, visit);
  };
  visit(node);
  nodesKnown.set(node, nodes);
  return nodes;
}

function resolveImport(path: string, specifier: string): string {
  return posix.normalize(posix.join(dirname(path), specifier)).replace(/\.js$/, '.ts');
}

/** Returns the modules of src that a module imports, including imports of types. */
function importsOf({ path, imports }: Module): string[] {
  return imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => resolveImport(path, specifier));
}

/** Returns the expressions with which a module could read an answer without its bounds. */
function foreignReadsIn(source: ts.SourceFile): string[] {
  return nodesOf(source)
    .filter((node) => {
      if (ts.isIdentifier(node))
        return (
          FOREIGN_GLOBALS.has(node.text) &&
          !ts.isTypeReferenceNode(node.parent) &&
          !ts.isTypeQueryNode(node.parent) &&
          nameOf(node.parent) !== node
        );
      if (ts.isStringLiteralLike(node)) return FOREIGN_MODULES.test(node.text) && isLoaded(node);
      if (ts.isNewExpression(node))
        return /\.(?:WebSocket|EventSource|XMLHttpRequest)$/.test(node.expression.getText());
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
      const name = node.expression.name.text;
      return name === 'fetch' || (BODY_READERS.has(name) && node.arguments.length === 0);
    })
    .map((node) => `${node.getText()} in line ${lineOf(source, node)}`);
}

/** Returns whether a text names the module of an import, other than an import of types. */
function isLoaded({ parent }: ts.Node): boolean {
  if (ts.isImportDeclaration(parent)) return parent.importClause?.isTypeOnly !== true;
  return ts.isCallExpression(parent) && /^(?:import|require)$/.test(parent.expression.getText());
}

function isJsonParse({ expression }: ts.CallExpression): boolean {
  return expression.getText() === 'JSON.parse';
}

/** Returns the global names with effects that a module uses as values. */
function effectsIn(source: ts.SourceFile): string[] {
  return nodesOf(source)
    .filter(ts.isIdentifier)
    .filter((node) => EFFECTS.has(node.text) && !isCalendarArithmetic(node))
    .filter((node) => !ts.isTypeReferenceNode(node.parent) && nameOf(node.parent) !== node)
    .map((node) => `${node.getText()} in line ${lineOf(source, node)}`);
}

/** Returns whether an identifier is in `Date.UTC(…)` or `new Date(time)`, because these read no clock. */
function isCalendarArithmetic({ text, parent }: ts.Identifier): boolean {
  if (text !== 'Date') return false;
  if (ts.isNewExpression(parent)) return (parent.arguments?.length ?? 0) > 0;
  return ts.isPropertyAccessExpression(parent) && parent.name.text === 'UTC';
}

/** Returns the name in a declaration or a property access. Such a name does not refer to a global. */
function nameOf(node: ts.Node): ts.Node | undefined {
  return 'name' in node ? (node.name as ts.Node) : undefined;
}

function lineOf(source: ts.SourceFile, node: ts.Node): number {
  return source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
}
