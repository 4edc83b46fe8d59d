/** The name of an environment variable. The variable contains the hash of a build of uWebSockets.js that the operator trusts. */
export const UWS_SHA256_VARIABLE = 'TICKSEAL_UWS_SHA256';

/** The properties of a machine that decide which native add-ons run. */
export interface Machine {
  /** The version of Node, such as `22.14.0`. */
  readonly nodeVersion: string;
  readonly platform: string;
  readonly arch: string;
  /** The version of glibc, such as `2.36`. `undefined` on Linux with another C library, and on other systems. */
  readonly glibcVersion: string | undefined;
}

/** A line of Node releases with builds of all add-ons. */
export interface NodeLine {
  readonly major: number;
  /** The first release of the line on which all packages run. */
  readonly minorMin: number;
  /**
   * The oldest glibc on which Node and all add-ons load. Node 20 is built for 2.28, and uWebSockets.js for Node 22 and 24 is built
   * for 2.38.
   */
  readonly glibcMin: string;
}

/** The lines, the recommended one first. */
export const NODE_LINES: readonly NodeLine[] = [
  { major: 24, minorMin: 0, glibcMin: '2.38' },
  { major: 22, minorMin: 0, glibcMin: '2.38' },
  { major: 20, minorMin: 19, glibcMin: '2.28' },
];
/** The glibc that Node requires. */
const GLIBC_MIN = '2.28';
const PLATFORMS: readonly string[] = ['linux', 'darwin'];
const ARCHITECTURES: readonly string[] = ['x64', 'arm64'];

/**
 * Returns the reason why no command runs on a version of Node, in one sentence. The modules of the commands use functions of Node that
 * older versions lack, so a caller must ask before it loads these modules.
 * @returns `undefined` for the oldest supported version and all later ones
 */
export function nodeProblem(nodeVersion: string): string | undefined {
  const [major, minor] = numbersOf(nodeVersion);
  const oldest = NODE_LINES.at(-1);
  if (major! > oldest!.major || (major === oldest!.major && minor! >= oldest!.minorMin)) return undefined;
  const least = `${oldest!.major}.${oldest!.minorMin}`;
  return `tickseal needs Node 24, 22, or ${least} or later, and this is Node ${nodeVersion}`;
}

/**
 * Returns the reason why the service cannot run on a machine, in one sentence that names the requirement.
 * @param hasOwnBuild true if the operator trusts another build of uWebSockets.js, whose requirements are unknown
 * @returns `undefined` when the service can run
 */
export function machineProblem(machine: Machine, hasOwnBuild: boolean): string | undefined {
  const { nodeVersion, platform, arch } = machine;
  if (!PLATFORMS.includes(platform) || !ARCHITECTURES.includes(arch))
    return `the service needs Linux or macOS on x64 or arm64, and this machine is ${platform} on ${arch}`;
  const [major, minor] = numbersOf(nodeVersion);
  const line = NODE_LINES.find((one) => one.major === major);
  if (!hasOwnBuild && (line === undefined || minor! < line.minorMin)) {
    const needed = `Node ${nodeVersionsText(machine)}`;
    return major! > NODE_LINES[0]!.major
      ? `the npm package of uWebSockets.js has no build for Node ${nodeVersion}: use ${needed}, or install an official build ` +
          `(npm install "uWebSockets.js@github:uNetworking/uWebSockets.js#<tag>") and set ${UWS_SHA256_VARIABLE} to its SHA-256`
      : `the service needs ${needed}, and this is Node ${nodeVersion}`;
  }
  if (platform !== 'linux') return undefined;
  return glibcProblem(machine, hasOwnBuild || line === undefined ? GLIBC_MIN : line.glibcMin);
}

/** Returns the Node releases on which the service runs with this glibc, as `24, 22 or 20 (20.19 or later)`. */
function nodeVersionsText({ glibcVersion = '' }: Machine): string {
  const usable = NODE_LINES.filter(({ glibcMin }) => glibcVersion === '' || !isBelow(glibcVersion, glibcMin));
  const lines = (usable.length === 0 ? NODE_LINES : usable).map(({ major, minorMin }) =>
    minorMin === 0 ? `${major}` : `${major} (${major}.${minorMin} or later)`,
  );
  return lines.join(', ').replace(/, (?=[^,]*$)/, ' or ');
}

function glibcProblem({ nodeVersion, glibcVersion }: Machine, glibcMin: string): string | undefined {
  if (glibcVersion === undefined)
    return `the service needs a Linux with glibc ${glibcMin} or later, and this one has another C library, such as Alpine's musl`;
  if (!isBelow(glibcVersion, glibcMin)) return undefined;
  const older = NODE_LINES.find((line) => !isBelow(glibcVersion, line.glibcMin));
  const remedy =
    older === undefined
      ? 'use a newer Linux'
      : `use Node ${older.major}, or a newer Linux such as Debian 13 or Ubuntu 24.04`;
  return `with Node ${nodeVersion} the service needs glibc ${glibcMin} or later, and this machine has glibc ${glibcVersion}: ${remedy}`;
}

function isBelow(version: string, least: string): boolean {
  const [major = 0, minor = 0] = numbersOf(version);
  const [leastMajor = 0, leastMinor = 0] = numbersOf(least);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

function numbersOf(version: string): number[] {
  return version.split('.').map(Number);
}

/** Describes the machine of this process. */
export function thisMachine(): Machine {
  const { platform, arch, versions } = process;
  knownGlibc ??= { version: readGlibcVersion() };
  return { nodeVersion: versions.node, platform, arch, glibcVersion: knownGlibc.version };
}

/** The version of glibc, which does not change while the process runs. It is stored because a report takes 5 ms. */
let knownGlibc: { readonly version: string | undefined } | undefined;

function readGlibcVersion(): string | undefined {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime;
}
