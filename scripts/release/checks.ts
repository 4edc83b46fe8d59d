/** The facts about a release that are known before its package exists. */
export interface ReleaseFacts {
  /** The tag of the release, such as `v1.2.3`. */
  readonly tag: string;
  /** The versions in `package.json`, in the lock file and in the packed client, by name. */
  readonly versions: Readonly<Record<string, string>>;
  readonly changelog: string;
}

/** The facts about the client's package. */
export interface PackageFacts {
  /** The paths of the files in the client's package. */
  readonly files: readonly string[];
  /** The paths that the client's package exports. */
  readonly exported: readonly string[];
}

const TAG = /^v((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?)$/;
/**
 * The pattern of allowed files: the compiled client, the code that the client shares with the service, the contracts, the client's README
 * and its licence.
 */
const ALLOWED_FILE =
  /^(?:(?:commonjs\/)?package\.json|README\.md|LICENSE|(?:client|model|tlog|wire)\/(?:\w+\/)*\w+\.(?:js|d\.ts)|commonjs\/(?:client|model|tlog|wire)\/(?:\w+\/)*\w+\.d\.ts|contracts\/\w+\.sol)$/;
const FORBIDDEN_FILE = /^(?:commonjs\/)?client\/(?:page|examples|solidity)\//;
const REQUIRED_FILES = ['package.json', 'README.md', 'LICENSE'];

/** Reads the version in a tag. Returns `undefined` unless the tag is `v` and a semantic version. */
export function versionOfTag(tag: string): string | undefined {
  return TAG.exec(tag)?.[1];
}

/** Reads the notes of a version: the text from the version's heading, which has a date, to the next heading. */
export function notesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}] - `));
  const [heading = '', ...lines] = section?.split('\n') ?? [];
  const isDated = /^\[[^\]]+\] - \d{4}-\d\d-\d\d$/.test(heading);
  return isDated
    ? lines
        .join('\n')
        .replace(/^\[[^\]]+\]: .*$/gm, '')
        .trim()
    : undefined;
}

/** Finds mismatches between the tag, the versions and the notes of a release. Without mismatches, the list is empty. */
export function releaseFaults({ tag, versions, changelog }: ReleaseFacts): string[] {
  const version = versionOfTag(tag);
  if (version === undefined) return [`the tag ${tag} is not v and a semantic version`];
  const notes = notesOf(changelog, version);
  return [
    ...Object.entries(versions)
      .filter(([, found]) => found !== version)
      .map(([name, found]) => `${name} has version ${found}, the tag says ${version}`),
    ...(/^## \[Unreleased\]$/m.test(changelog) ? [] : ['CHANGELOG.md has no heading [Unreleased]']),
    ...(notes === undefined ? [`CHANGELOG.md has no heading [${version}] with a date`] : []),
    ...(notes === '' ? [`CHANGELOG.md says nothing of ${version}`] : []),
  ];
}

/** Finds missing files and forbidden files in the client's package. */
export function packageFaults({ files, exported }: PackageFacts): string[] {
  return [
    ...[...REQUIRED_FILES, ...exported]
      .filter((file) => !files.some((found) => isExported(found, file)))
      .map((file) => `the client's package lacks ${file}`),
    ...files
      .filter((file) => !ALLOWED_FILE.test(file) || FORBIDDEN_FILE.test(file))
      .map((file) => `the client's package holds ${file}`),
  ];
}

/** @param path a path that the package exports. A star stands for any name */
function isExported(file: string, path: string): boolean {
  const [start = '', end] = path.split('*');
  return end === undefined ? file === path : file.startsWith(start) && file.endsWith(end);
}
