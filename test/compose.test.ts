/** What `docker-compose.yml` says, held against the code that hears it. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { detectClient } from '../src/server/clients/detect-client.ts'
import { identifyUser } from '../src/server/clients/identify-user.ts'
import { SETTINGS_TABLE } from '../src/settings/settings-table.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const COMPOSE = read('docker-compose.yml')

type Headers = Readonly<Record<string, string>>

/** A folded text is one line, its breaks are blanks. */
function configured(): Headers {
  const [, folded = ''] = /OPENAI_API_CONFIGS: >-\n((?: {8}.*\n)+)/.exec(COMPOSE) ?? []
  const configs = JSON.parse(folded.trim().replaceAll(/\n */g, ' ')) as {
    readonly '0': { readonly headers: Headers }
  }
  return configs['0'].headers
}

function recommended(): Headers {
  const [, json = ''] = /under \*Headers\*\s+```json\n(.*?)\n```/s.exec(read('README.md')) ?? []
  return JSON.parse(json) as Headers
}

const settings = { MARKERS: 'auto', REMEMBER: 'on' } as const

/** As Open WebUI sends them, with the words in braces filled in. */
function filled(headers: Headers, values: Headers): globalThis.Headers {
  const entries = Object.entries(headers)
  return new Headers(
    entries.map(([name, value]) => [name, values[value.replaceAll(/[{}]/g, '')] ?? '']),
  )
}

test('it has every header that the README recommends', () => {
  expect(configured()).toMatchObject(recommended())
  expect(Object.keys(recommended()).length).toBeGreaterThan(3)
})

test.each([
  ['docker-compose.yml', configured()],
  ['the README', recommended()],
])('with the headers of %s Open WebUI is known, and all that it says is heard', (_, headers) => {
  const chat = { CHAT_ID: 'c1', MESSAGE_ID: 'm1', USER_ID: 'ann' }
  const ask = (values: Headers) => detectClient(filled(headers, values), {}, settings)
  expect(ask({})).toMatchObject({ isOpenWebUi: true, isTask: false, receivesMarkers: true })
  expect(ask({ ...chat, TASK: 'title_generation' })).toMatchObject({ isTask: true })
  expect(ask({ ...chat, CHAT_ID: 'local:tab' })).toMatchObject({ isTemporary: true })
  const trusting = { OPEN_WEBUI_JWT_SECRET: null, TRUST_USER_HEADERS: 'on' } as const
  expect(identifyUser(filled(headers, chat), trusting, { nowMs: 0, isRemembered: true })).toBe(
    'ann',
  )
})

test('Open WebUI is wired to the gateway, with its key, and the gateway to Postgres (C143)', () => {
  expect(COMPOSE).toContain('OPENAI_API_BASE_URLS: http://backstory:8787/v1')
  const [, key] = /OPENAI_API_KEYS: (\$\{\w+:-\S+\})/.exec(COMPOSE) ?? []
  expect(COMPOSE).toContain(`BACKSTORY_KEYS: \${BACKSTORY_KEYS:-openwebui:${key}}`)
  const [, user, password, name] =
    /postgres:\/\/(\w+):(\w+)@postgres:5432\/(\w+)/.exec(COMPOSE) ?? []
  expect(COMPOSE).toContain(`POSTGRES_USER: ${user}`)
  expect(COMPOSE).toContain(`POSTGRES_PASSWORD: ${password}`)
  expect(COMPOSE).toContain(`POSTGRES_DB: ${name}`)
})

test('whoever stops the gateway waits until it has ended what is open', () => {
  const [, seconds] = /stop_grace_period: (\d+)s/.exec(COMPOSE) ?? []
  expect(Number(seconds)).toBeGreaterThan(SETTINGS_TABLE.DRAIN_SECONDS.default + 5)
})
