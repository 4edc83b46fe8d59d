import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

// Makes an npm package that contains only the client: `npm run pack:client`. The package contains the contracts, and the modules that its
// entries in src/client use, compiled for browsers. The package depends on the packages that these modules import.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The entries for browsers, including the worker that verifies payloads. */
const BROWSER_ENTRIES = ['index', 'verify/verify_worker', 'tlog_index', 'signers_index'];
const NODE_ENTRIES = ['node_index'];
/** The folder of the declarations for modules that call `require`. Node loads the same modules for them as for `import`. */
const COMMONJS_TYPES = 'commonjs';
/** The entries of the package. */
const DOORS: Readonly<Record<string, Door>> = {
  '.': { module: 'index', nodeModule: 'node_index' },
  './worker': { module: 'verify/verify_worker' },
  './signers': { module: 'signers_index' },
  './tlog': { module: 'tlog_index' },
};
/** The contracts, which compilers of Solidity import from the package. */
const CONTRACTS = join(ROOT, 'src/client/solidity');
const NAME = 'tickseal-client';

/** The arguments. A release passes the repository's address, because npm compares this address with the package's provenance. */
const [outDir = join(ROOT, 'dist'), repository] = process.argv.slice(2);
process.stdout.write(`${packClient(resolve(outDir))}\n`);

/**
 * Builds the package in `dir`, as a folder and as a tarball.
 * @returns the path of the tarball
 */
function packClient(dir: string): string {
  const folder = join(dir, NAME);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Browsers load the browser modules, so the compiler must not use the types of Node for these modules. The package `ws` would add those
  // types, so a second compilation makes the modules for Node.
  const compiled = new Set<string>();
  const dependencies = [
    ...new Set([BROWSER_ENTRIES, NODE_ENTRIES].flatMap((entries) => compile(entries, folder, compiled))),
  ].sort();
  const root = readPackage();
  const description = {
    name: NAME,
    version: root.version,
    description: 'Client of a tickseal price service, for Node and browsers: publish, subscribe, verify',
    license: root.license,
    ...(repository !== undefined && { repository: { type: 'git', url: repository } }),
    type: 'module',
    sideEffects: ['./client/verify/verify_worker.js'],
    exports: {
      ...Object.fromEntries(Object.entries(DOORS).map(([name, door]) => [name, exportOf(door)])),
      './contracts/*': './contracts/*',
    },
    // TypeScript's resolution `node10` reads these fields, not `exports`.
    main: './client/node_index.js',
    types: './client/index.d.ts',
    typesVersions: {
      '*': Object.fromEntries(
        Object.entries(DOORS)
          .filter(([name]) => name !== '.')
          .map(([name, { module }]) => [name.slice('./'.length), [`./client/${module}.d.ts`]]),
      ),
    },
    engines: root.engines,
    files: ['**/*.js', '**/*.d.ts', `${COMMONJS_TYPES}/package.json`, 'contracts/*.sol'],
    dependencies: Object.fromEntries(dependencies.map((name) => [name, versionOf(name, root.dependencies)])),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
  writeFileSync(join(folder, COMMONJS_TYPES, 'package.json'), '{ "type": "commonjs" }\n');
  writeFileSync(join(folder, 'README.md'), readme());
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  for (const name of readdirSync(CONTRACTS).filter((file) => file.endsWith('.sol')))
    cpSync(join(CONTRACTS, name), join(folder, 'contracts', name));
  const printed = execFileSync(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', dir, folder],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [{ filename }] = JSON.parse(printed.toString()) as [{ filename: string }];
  return join(dir, filename);
}

interface Door {
  readonly module: string;
  /** The module for Node, if it is another one. */
  readonly nodeModule?: string;
}

/** Returns the conditions of an entry. */
function exportOf({ module, nodeModule = module }: Door): object {
  const modules = { node: `./client/${nodeModule}.js`, default: `./client/${module}.js` };
  return {
    require: { types: `./${COMMONJS_TYPES}/client/${module}.d.ts`, ...modules },
    types: `./client/${module}.d.ts`,
    ...modules,
  };
}

/** Returns the README of the client. The examples import the client by the name of this package. */
function readme(): string {
  const page = readFileSync(join(ROOT, 'src/client/README.md'), 'utf8');
  return page.replaceAll("from 'tickseal/client'", `from '${NAME}'`);
}

/**
 * Compiles modules of the client. The compiler omits the types of Node, unless a module imports a package with these types.
 * @param compiled the files that are compiled already; the function leaves them as they are, and adds its own
 * @returns the packages that the compiled modules import
 */
function compile(entries: readonly string[], outDir: string, compiled: Set<string>): string[] {
  const files = entries.map((name) => join(ROOT, `src/client/${name}.ts`));
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files, include: [] }, ts.sys, ROOT);
  delete options.tsBuildInfoFile;
  const program = ts.createProgram(files, {
    ...options,
    rootDir: join(ROOT, 'src'),
    outDir,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: [],
    incremental: false,
    emitDeclarationOnly: false,
  });
  const packages = new Set<string>();
  const writeFile = (path: string, text: string) => {
    ts.sys.writeFile(path, text);
    if (path.endsWith('.d.ts')) ts.sys.writeFile(join(outDir, COMMONJS_TYPES, relative(outDir, path)), text);
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (!fileName.startsWith('.')) packages.add(packageOf(fileName));
    }
  };
  const faults: ts.Diagnostic[] = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()];
  for (const source of program.getSourceFiles()) {
    if (source.isDeclarationFile || compiled.has(source.fileName)) continue;
    compiled.add(source.fileName);
    faults.push(...ts.getPreEmitDiagnostics(program, source));
    faults.push(...program.emit(source, writeFile).diagnostics);
  }
  if (faults.length > 0) {
    const host = { getCurrentDirectory: () => ROOT, getCanonicalFileName: String, getNewLine: () => '\n' };
    throw new Error(ts.formatDiagnostics(faults, host));
  }
  return [...packages];
}

/** Returns the package of a module specifier, for example `@noble/hashes` for `@noble/hashes/hmac.js`. */
function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

function versionOf(name: string, dependencies: Readonly<Record<string, string>>): string {
  const version = dependencies[name];
  if (version === undefined)
    throw new Error(`the client imports ${name}, which is no dependency of this project`);
  return version;
}

interface RootPackage {
  readonly version: string;
  readonly license: string;
  readonly engines: object;
  readonly dependencies: Readonly<Record<string, string>>;
}

function readPackage(): RootPackage {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as RootPackage;
}
