/**
 * The arrows of the house. A folder may import from itself and from what its line names; a package
 * or a runtime's own module may be imported only where its line allows.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, test } from 'vitest'

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  conversation: [],
  stream: [
    'conversation',
    'dialect',
    'provider',
    'edge',
    'transport',
    'mistake',
    'world',
    'errors',
  ],
  rebuild: ['conversation', 'digest'],
  client: ['conversation', 'edge', 'errors', 'settings'],
  dialect: ['conversation', 'stream/stage', 'errors'],
  provider: ['conversation', 'stream/stage', 'errors'],
  transport: ['conversation', 'provider', 'media', 'stream/sse', 'stream/push-source', 'errors'],
  edge: ['conversation', 'errors'],
  media: ['conversation', 'provider', 'rebuild/transform', 'settings', 'world', 'errors'],
  store: ['conversation', 'digest', 'errors'],
  websocket: [
    'conversation',
    'dialect',
    'edge',
    'stream/sse',
    'store',
    'history',
    'gateway',
    'keys',
    'settings',
    'world',
    'mistake',
    'errors',
  ],
  runs: [
    'conversation',
    'dialect',
    'edge',
    'store',
    'stream',
    'history',
    'resources',
    'gateway',
    'replica',
    'keys',
    'world',
    'mistake',
    'errors',
  ],
  upstream: [
    'conversation',
    'media',
    'dialect',
    'edge',
    'stream',
    'history',
    'house-tools',
    'layers',
    'provider',
    'rebuild',
    'transport',
    'keys',
    'settings',
    'in-time',
    'world',
    'mistake',
    'errors',
  ],
  'house-tools': [
    'conversation',
    'rebuild',
    'layers',
    'history/memory-place',
    'in-time',
    'keys',
    'world',
    'errors',
  ],
  layers: ['conversation', 'rebuild', 'store', 'in-time', 'digest', 'world', 'errors'],
  explain: [
    'command-words',
    'conversation',
    'dialect',
    'digest',
    'history',
    'provider',
    'rebuild',
    'store',
    'transport',
    'upstream',
    'keys',
    'settings',
    'in-time',
    'world',
    'errors',
    'layers',
  ],
  endpoints: [
    'conversation',
    'explain',
    'store',
    'dialect',
    'edge',
    'history',
    'provider',
    'resources/paging',
    'stream',
    'transport',
    'upstream',
    'keys',
    'world',
    'errors',
    'understand',
  ],
  history: [
    'conversation',
    'media',
    'dialect',
    'rebuild',
    'store',
    'digest',
    'keys',
    'settings',
    'in-time',
    'world',
    'errors',
    'layers',
  ],
  simulate: ['command-words', 'conversation', 'dialect', 'provider', 'rebuild', 'errors'],
  resources: ['conversation', 'dialect', 'store', 'history', 'layers', 'keys', 'world', 'errors'],
}

/** Packages and runtime modules, and the only files that may import them. */
const ONLY_IN: Readonly<Record<string, RegExp>> = {
  'node:':
    /^(node|serve-node|rehearse|keys|digest)\.ts$|^client\/open-webui-jwt\.ts$|^start\.js$|^edge\/node-|^transport\/node-media|^store\/(engine-node-sqlite|sqlite-thread|engine-postgres|migrate|open-store|seal\.ts)/,
  undici: /^transport\/(undici-transport|node-media)\.ts$/,
  pg: /^store\/engine-postgres\.ts$/,
  kysely: /^store\//,
  hono: /^app\.ts$/,
  '@hono/node-server': /^serve-node\.ts$|^edge\/node-exchange\.ts$/,
  'eventsource-parser': /^stream\/sse\.ts$/,
  ws: /^edge\/node-websocket\.ts$/,
  ulid: /^(open-world|worker)\.ts$/,
  '@cfworker/json-schema': /^layers\/schema-check\.ts$/,
  openai: /^(provider\/openai-responses|provider\/openai-chat|dialect)\//,
}

const src = new URL('../src/', import.meta.url).pathname
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(ts|js)$/.test(file))
  .map((file) => file.split('\\').join('/'))

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(src, file), 'utf8')
  return [
    ...text.matchAll(
      /(?:^|\n)(?:import|export)[^'"]*?from '([^']+)'|(?:^|\n)import '([^']+)'|import\('([^']+)'\)/g,
    ),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}

test('a folder imports only what its line names', () => {
  const strays = files.flatMap((file) => {
    const folder = file.split('/')[0] ?? ''
    const allowed = MAY_IMPORT[folder]
    if (allowed === undefined) return []
    return importsOf(file)
      .filter((name) => name.startsWith('.'))
      .map((name) => posix.join(posix.dirname(file), name).replace(/\.ts$/, ''))
      .filter(
        (target) =>
          ![folder, ...allowed].some((may) => target === may || target.startsWith(`${may}/`)),
      )
      .map((target) => `${file} imports ${target}`)
  })
  expect(strays).toEqual([])
})

test('every folder has its line', () => {
  const folders = new Set(
    files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]),
  )
  expect(folders).toEqual(new Set(Object.keys(MAY_IMPORT)))
})

test('packages and runtime modules stay where they belong', () => {
  const strays = files.flatMap((file) =>
    importsOf(file)
      .filter((name) => !name.startsWith('.'))
      .filter((name) => {
        const rule = Object.keys(ONLY_IN).find(
          (known) => name === known || name.startsWith(known.endsWith(':') ? known : `${known}/`),
        )
        return rule === undefined || !ONLY_IN[rule]?.test(file)
      })
      .map((name) => `${file} imports ${name}`),
  )
  expect(strays).toEqual([])
})

test('no file becomes the place where everything happens', () => {
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(src, file), 'utf8').split('\n').length }))
    .filter(({ lines }) => lines > 300)
  expect(long).toEqual([])
})
