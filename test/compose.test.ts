/** Checks that `docker-compose.yml` and the README match the code and each other. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { detectClient } from '../src/server/clients/detect-client.ts'
import { identifyUser } from '../src/server/clients/identify-user.ts'
import { SETTINGS_TABLE } from '../src/settings/settings-table.ts'
import { TESTED_VERSIONS } from './open-webui/tested-versions.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const COMPOSE = read('docker-compose.yml')

type Headers = Readonly<Record<string, string>>

/** Reads the connection headers from docker-compose.yml, where a folded YAML text holds the JSON. */
function readComposeHeaders(): Headers {
  const [, folded = ''] = /OPENAI_API_CONFIGS: >-\n((?: {8}.*\n)+)/.exec(COMPOSE) ?? []
  const configs = JSON.parse(folded.trim().replaceAll(/\n */g, ' ')) as {
    readonly '0': { readonly headers: Headers }
  }
  return configs['0'].headers
}

function readReadmeHeaders(): Headers {
  const [, json = ''] = /under \*Headers\*:?\s+```json\n(.*?)\n```/s.exec(read('README.md')) ?? []
  return JSON.parse(json) as Headers
}

/** Returns the names and values of a service's `environment`, without values of several lines. */
function listEnvironment(service: string): Readonly<Record<string, string>> {
  const start = COMPOSE.indexOf(`\n  ${service}:\n`)
  const [, lines = ''] = /\n {4}environment:\n((?: {6}.*\n)+)/.exec(COMPOSE.slice(start)) ?? []
  return Object.fromEntries(
    [...lines.matchAll(/^ {6}(\w+): (.+)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}

const settings = { MARKERS: 'auto', REMEMBER: 'on' } as const

/** Fills in the templates, such as `{{CHAT_ID}}`, as Open WebUI does. */
function fillTemplates(headers: Headers, values: Headers): globalThis.Headers {
  const entries = Object.entries(headers)
  return new Headers(
    entries.map(([name, value]) => [name, values[value.replaceAll(/[{}]/g, '')] ?? '']),
  )
}

test('docker-compose.yml sets every Open WebUI header that the README recommends', () => {
  expect(readComposeHeaders()).toMatchObject(readReadmeHeaders())
  expect(Object.keys(readReadmeHeaders()).length).toBeGreaterThan(3)
})

test.each([
  ['docker-compose.yml', readComposeHeaders()],
  ['the README', readReadmeHeaders()],
])(
  'the gateway recognizes Open WebUI, its tasks, temporary chats and users by the headers of %s',
  (_, headers) => {
    const chat = { CHAT_ID: 'c1', MESSAGE_ID: 'm1', USER_ID: 'ann' }
    const detect = (values: Headers) => detectClient(fillTemplates(headers, values), {}, settings)
    // Without a chat, as for the Playground, and with the ids of its messages, no answer needs a marker.
    expect(detect({})).toMatchObject({ isOpenWebUi: true, isTask: false, receivesMarkers: false })
    expect(detect({ ...chat, USER_MESSAGE_PARENT_ID: 'm0' })).toMatchObject({
      receivesMarkers: false,
      answerMessage: { chat: 'c1', message: 'm1', parent: 'm0' },
    })
    expect(detect({ ...chat, TASK: 'title_generation' })).toMatchObject({ isTask: true })
    for (const CHAT_ID of ['local:tab', 'temporary:tab']) {
      expect(detect({ ...chat, CHAT_ID })).toMatchObject({ isTemporary: true })
    }
    const trustsHeaders = { OPEN_WEBUI_JWT_SECRET: null, TRUST_USER_HEADERS: 'on' } as const
    expect(
      identifyUser(fillTemplates(headers, chat), trustsHeaders, { nowMs: 0, usesStoredData: true }),
    ).toEqual({ id: 'ann', isAdministrator: false })
  },
)

test('in docker-compose.yml, Open WebUI uses the gateway with its key, and the gateway uses Postgres (C143)', () => {
  expect(COMPOSE).toContain('OPENAI_API_BASE_URLS: http://backstory:8787/v1')
  const [, key] = /OPENAI_API_KEYS: (\$\{\w+:-\S+\})/.exec(COMPOSE) ?? []
  expect(COMPOSE).toContain(`BACKSTORY_KEYS: \${BACKSTORY_KEYS:-openwebui:${key}}`)
  const [, user, password, name] =
    /postgres:\/\/(\w+):(\w+)@postgres:5432\/(\w+)/.exec(COMPOSE) ?? []
  expect(COMPOSE).toContain(`POSTGRES_USER: ${user}`)
  expect(COMPOSE).toContain(`POSTGRES_PASSWORD: ${password}`)
  expect(COMPOSE).toContain(`POSTGRES_DB: ${name}`)
})

test('docker-compose.yml lets .env choose the database, and the address on the machine', () => {
  const [, image = ''] = /dockerfile_inline: \|\n((?: {8}.*\n)+)/.exec(COMPOSE) ?? []
  // In Docker, a setting of the image yields to `env_file`, and `environment` does not.
  expect(image).toMatch(/^ +ENV DATABASE_URL=postgres:/m)
  expect(listEnvironment('backstory')).not.toHaveProperty('DATABASE_URL')
  expect(COMPOSE).toContain('env_file: [{ path: .env, required: false }]')
  expect(listEnvironment('backstory')).toMatchObject({ HOST: '0.0.0.0', PORT: '8787' })
  const { HOST, PORT } = SETTINGS_TABLE
  const published = `\${HOST:-${HOST.default}}:\${PORT:-${PORT.default}}:8787`
  expect(COMPOSE).toContain(`ports: ["${published}"]`)
})

test('every other setting of the gateway that docker-compose.yml sets is taken from .env', () => {
  const fixed = Object.entries(listEnvironment('backstory')).filter(
    ([name, value]) => name in SETTINGS_TABLE && !value.startsWith(`\${${name}:-`),
  )
  expect(fixed.map(([name]) => name)).toEqual(['HOST', 'PORT'])
})

test('docker-compose.yml starts an Open WebUI in which a second user finds just the models of the gateway', () => {
  expect(COMPOSE).toContain(`image: ghcr.io/open-webui/open-webui:v${TESTED_VERSIONS[0]}`)
  expect(listEnvironment('open-webui')).toMatchObject({
    ENABLE_SIGNUP: '${ENABLE_SIGNUP:-false}',
    DEFAULT_USER_ROLE: '${DEFAULT_USER_ROLE:-user}',
    BYPASS_MODEL_ACCESS_CONTROL: '${BYPASS_MODEL_ACCESS_CONTROL:-true}',
    ENABLE_OLLAMA_API: '"false"',
    ENABLE_EVALUATION_ARENA_MODELS: '"false"',
  })
})

test('Docker waits longer for the gateway to stop than the gateway waits for open answers', () => {
  const [, seconds] = /stop_grace_period: (\d+)s/.exec(COMPOSE) ?? []
  expect(Number(seconds)).toBeGreaterThan(SETTINGS_TABLE.DRAIN_SECONDS.default + 5)
})
