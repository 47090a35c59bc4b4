/** Checks that `docker-compose.yml` and the README match the code and each other. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { detectClient } from '../src/server/clients/detect-client.ts'
import { identifyUser } from '../src/server/clients/identify-user.ts'
import { SETTINGS_TABLE } from '../src/settings/settings-table.ts'

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
    expect(detect({})).toMatchObject({ isOpenWebUi: true, isTask: false, receivesMarkers: true })
    expect(detect({ ...chat, TASK: 'title_generation' })).toMatchObject({ isTask: true })
    for (const CHAT_ID of ['local:tab', 'temporary:tab']) {
      expect(detect({ ...chat, CHAT_ID })).toMatchObject({ isTemporary: true })
    }
    const trustsHeaders = { OPEN_WEBUI_JWT_SECRET: null, TRUST_USER_HEADERS: 'on' } as const
    expect(
      identifyUser(fillTemplates(headers, chat), trustsHeaders, { nowMs: 0, usesStoredData: true }),
    ).toBe('ann')
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

test('Docker waits longer for the gateway to stop than the gateway waits for open answers', () => {
  const [, seconds] = /stop_grace_period: (\d+)s/.exec(COMPOSE) ?? []
  expect(Number(seconds)).toBeGreaterThan(SETTINGS_TABLE.DRAIN_SECONDS.default + 5)
})
