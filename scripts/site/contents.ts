import { ROUTE_GROUPS, type RouteGroupName } from '../../src/server/documents/route_groups.js';
import type { ClientPage } from './client_sections.js';

/** A part of a page: sections of a page of the repository, or a part of the reference. */
export type Part =
  | {
      /** The path of the Markdown file from the root of the repository. */
      readonly file: string;
      /** The headings of the second level; the empty text is what comes before them. Default: the whole file. */
      readonly sections?: readonly string[];
    }
  | { readonly operations: RouteGroupName }
  | { readonly channels: RouteGroupName }
  | { readonly client: ClientPage }
  | { readonly generated: 'basics' | 'schemas' };

export interface SitePage {
  /** The name of the file without `.html`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parts: readonly Part[];
}

/** A group of pages in the navigation. */
export interface SiteGroup {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

const SERVER = 'src/server/README.md';

/** All pages, in the order of the navigation. A link to a page of the repository leads to the first page that has its target. */
export const SITE_GROUPS: readonly SiteGroup[] = [
  {
    title: 'Start',
    pages: [
      page('start', 'Get started', 'Run the demo, read a price, verify it.', [
        { file: 'README.md', sections: ['Start', 'The demo', 'More than one machine', 'A short tour'] },
      ]),
      page(
        'quickstarts',
        'Quickstarts',
        'Publish and read without our client, in five languages and on chain.',
        [{ file: 'src/client/examples/README.md' }],
      ),
      page('commands', 'Command line', 'Every command, and the long tour.', [{ file: 'src/cli/README.md' }]),
    ],
  },
  {
    title: 'API',
    pages: [
      page('requests', 'Requests and answers', 'Tokens, errors, limits, and what web pages may do.', [
        { generated: 'basics' },
        {
          file: SERVER,
          sections: [
            'REST',
            'Web pages',
            'The documents: `/docs/`',
            'What one token may do to others',
            'What one address may do to others',
          ],
        },
      ]),
      groupPage('prices', [{ operations: 'prices' }]),
      groupPage('charts', [{ operations: 'charts' }]),
      groupPage('streams', [
        {
          file: SERVER,
          sections: [
            'Streams: `/ws`',
            'Streams over HTTP: `/v1/stream`',
            'Streams of signed aggregates: `/evm/subscribe` and `/stark/subscribe`',
          ],
        },
        { operations: 'streams' },
        { channels: 'streams' },
      ]),
      groupPage('publishing', [
        { file: SERVER, sections: ['Publishers: `/evm/publish` and `/stark/publish`'] },
        { operations: 'publishing' },
        { channels: 'publishing' },
      ]),
      groupPage('service', [{ operations: 'service' }]),
      page('schemas', 'Schemas', 'The values of REST and of the streams, field by field.', [
        { generated: 'schemas' },
      ]),
      page(
        'existing_clients',
        'Existing clients',
        'What works with clients of other services, and the login by signature.',
        [{ file: SERVER, sections: ['Existing clients'] }],
      ),
    ],
  },
  {
    title: 'Client',
    pages: [
      page('client', 'The client', 'Stream, verify and publish in Node and browsers.', [
        { file: 'src/client/README.md' },
      ]),
      clientPage('client_functions', 'Functions', 'Each function of the client with its errors.'),
      clientPage('client_classes', 'Classes', 'Each class of the client with its members and errors.'),
      clientPage('client_options', 'Options and values', 'Each interface of the client with its defaults.'),
      clientPage('client_types', 'Types', 'Each further type of the client.'),
      page('on_chain', 'On chain', 'Contracts that verify payloads and serve them.', [
        { file: 'src/client/solidity/README.md' },
      ]),
    ],
  },
  {
    title: 'Concepts',
    pages: [
      page('trust', 'What is signed', 'What each signature covers, and the live page that checks it.', [
        { file: SERVER, sections: ['What is signed', 'The live page: `/`'] },
      ]),
      page('public_log', 'The public log', 'What it promises, how to check a price, how to run a witness.', [
        { file: 'src/tlog/README.md' },
      ]),
      page('sources', 'Prices of real markets', 'Exchanges, conversions, outliers, recordings.', [
        { file: 'src/sources/README.md' },
      ]),
      page(
        'architecture',
        'How it is built',
        'The way of a price, the data folder, the signed past, the glossary.',
        [
          {
            file: 'src/README.md',
            sections: ['The way of a price', 'The data folder', 'The past', 'Glossary'],
          },
        ],
      ),
    ],
  },
  {
    title: 'Operate',
    pages: [
      page('operator', "Operator's endpoints", 'Health, metrics, the log, reloads and threads.', [
        { file: SERVER, sections: ['Operations', 'Metrics', 'Native add-ons'] },
      ]),
      page('configuration', 'Configuration', 'Every key with its default; reload and restart.', [
        { file: 'src/config/README.md' },
      ]),
      page('running', 'Running it', 'Unit, image, alerts, sizing, keys, backup.', [
        { file: 'scripts/deploy/README.md' },
      ]),
      page('clusters', 'Clusters', 'Several machines: roles, an example, faults, capacity.', [
        { file: 'scripts/deploy/CLUSTER.md' },
      ]),
      page(
        'compatibility',
        'Compatibility',
        'The promises of a version number, and the ways forward and back.',
        [{ file: 'scripts/deploy/COMPATIBILITY.md' }],
      ),
    ],
  },
];

/** The page that lists all others. */
export const INDEX: SitePage = page('index', 'Documentation', 'A signed price data service.', [
  { file: 'README.md', sections: [''] },
]);

/** The folders whose files a page may link. The site has a copy of each linked file. */
export const COPIED_FOLDERS = ['src/client/examples/', 'scripts/deploy/'] as const;

function page(name: string, title: string, description: string, parts: readonly Part[]): SitePage {
  return { name, title, description, parts };
}

function groupPage(name: RouteGroupName, parts: readonly Part[]): SitePage {
  return { name, ...ROUTE_GROUPS[name], parts };
}

function clientPage(name: ClientPage, title: string, description: string): SitePage {
  return page(name, title, description, [{ client: name }]);
}
