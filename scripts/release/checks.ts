/** The facts about a release that are known before its package exists. */
export interface ReleaseFacts {
  /** The tag of the release, such as `v1.2.3`. */
  readonly tag: string;
  /** The versions in `package.json`, in the lock file and in the packed client, by name. */
  readonly versions: Readonly<Record<string, string>>;
  readonly changelog: string;
}

const TAG = /^v((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?)$/;
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
