/**
 * Which folder of `src` may import which, types included. `architecture.test.ts` checks every import against
 * this table, and `npm run docs` writes the table of folders in `src/README.md` from it.
 */
export interface FolderRule {
  readonly purpose: string
  readonly mayImport: readonly string[]
}

/** Ordered from the core outwards: a folder imports only folders above it. */
export const FOLDERS: Readonly<Record<string, FolderRule>> = {
  core: {
    purpose: 'plain conversation data: items, stream events, prompts, notes, ids, and the ports',
    mayImport: [],
  },
  context: {
    purpose: 'the transforms that decide which items a model is sent, one a file',
    mayImport: ['core'],
  },
  dialects: {
    purpose: 'the APIs that clients speak: parses requests, renders answers',
    mayImport: ['core'],
  },
  providers: {
    purpose: 'the APIs that upstreams speak: encodes requests, decodes answers',
    mayImport: ['core'],
  },
  store: {
    purpose: 'the database: interfaces, SQL statements, one implementation for three engines',
    mayImport: ['core'],
  },
  media: {
    purpose: 'images and files: loads them safely and fits them to what an upstream accepts',
    mayImport: ['core', 'context', 'providers'],
  },
  memory: {
    purpose: 'facts and notes that a model is shown beside the conversation',
    mayImport: ['core', 'context', 'store'],
  },
  recall: {
    purpose: 'finds the stored turns behind the messages that a client sends again',
    mayImport: ['core', 'context'],
  },
  simulate: {
    purpose: 'plays conversations under each context policy and compares their cost',
    mayImport: ['core', 'context', 'dialects', 'providers'],
  },
  settings: {
    purpose: 'reads and checks the settings; one table defines them all',
    mayImport: ['core', 'dialects', 'media', 'providers', 'store'],
  },
  upstream: {
    purpose: 'the configured upstreams, model routing, and the HTTP transports to them',
    mayImport: ['core', 'context', 'providers', 'media', 'settings'],
  },
  gateway: {
    purpose: 'one request from its history to its answer and what is stored of it',
    mayImport: [
      'core',
      'context',
      'dialects',
      'media',
      'memory',
      'providers',
      'recall',
      'settings',
      'store',
      'upstream',
    ],
  },
  background: {
    purpose:
      'runs that outlive their client: their event log, followers, and takeover after a crash',
    mayImport: ['core', 'dialects', 'store', 'gateway'],
  },
  explain: {
    purpose: 'what was sent upstream and why, and what broke a prompt cache',
    mayImport: [
      'core',
      'dialects',
      'memory',
      'providers',
      'settings',
      'store',
      'upstream',
      'gateway',
    ],
  },
  server: {
    purpose: 'HTTP and WebSocket: routes, authentication, clients, endpoints, runtimes',
    mayImport: [
      'core',
      'dialects',
      'memory',
      'providers',
      'settings',
      'store',
      'upstream',
      'gateway',
      'background',
      'explain',
    ],
  },
  main: {
    purpose: 'entry points for Node and Workers, and the commands; builds the dependencies',
    mayImport: [
      'core',
      'dialects',
      'media',
      'settings',
      'simulate',
      'store',
      'upstream',
      'gateway',
      'background',
      'explain',
      'server',
    ],
  },
}
