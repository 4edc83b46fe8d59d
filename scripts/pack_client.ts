import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// Makes an npm package that contains only the client: `npm run pack:client`. The package contains the contracts, and the modules that its
// entries in src/client use, compiled for browsers.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/**
 * The configurations of the compiler, in the order of the compilations. Browsers load the browser modules, so these are compiled without the
 * types of Node, and replace those of the first compilation.
 */
const COMPILATIONS = ['node', 'browser'];
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
/** The packages that the modules import. */
const PACKAGES = ['@noble/secp256k1', 'ws'];
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
  for (const name of COMPILATIONS) {
    const config = join(ROOT, `scripts/client_package/${name}.json`);
    // The output of this program is only the path, so the faults that the compiler finds go to standard error.
    execFileSync(process.execPath, [TSC, '-p', config, '--outDir', folder], { stdio: ['ignore', 2, 2] });
  }
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.d.ts')) cpSync(join(folder, file), join(folder, COMMONJS_TYPES, file));
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
    dependencies: Object.fromEntries(PACKAGES.map((name) => [name, root.dependencies[name]!])),
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

interface RootPackage {
  readonly version: string;
  readonly license: string;
  readonly engines: object;
  readonly dependencies: Readonly<Record<string, string>>;
}

function readPackage(): RootPackage {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as RootPackage;
}
