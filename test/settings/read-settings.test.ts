import { expect, test } from 'vitest'
import { SETTINGS_TABLE } from '../../src/settings/settings-table.ts'
import { readSettings } from '../../src/settings/read-settings.ts'

test('one error about the settings lists every fault', () => {
  const read = () =>
    readSettings({ PORT: 'x', UPSTREAMS: '[{"name":"a"}]', BACKSTORY_KEYS: 'a' }, { NOPE: 1 })
  expect(read).toThrow(/PORT must be a whole number from 0 to 65535, not "x"/)
  expect(read).toThrow(/UPSTREAMS entry 1 needs a "wire"/)
  expect(read).toThrow(/BACKSTORY_KEYS must be name:key/)
  expect(read).toThrow(/NOPE is not a setting/)
})

/** Returns the lines of the error after the first. */
function readFaults(environment: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    readSettings(environment)
  } catch (error) {
    return (error as Error).message.split('\n- ').slice(1)
  }
  return []
}

test('the error about the settings lists every fault of every upstream', () => {
  const UPSTREAMS = JSON.stringify([
    { name: 'a', wire: 'telepathy', baseUrl: 'http://x', models: 'all', quirks: 5 },
    { name: 'b', wire: 'chat', colour: 1, headers: { a: 1 } },
    5,
    { wire: 'chat', baseUrl: 'nope', apiKey: 'env:NOWHERE', quirks: { query: 2 } },
    { name: 'fine', wire: 'demo' },
  ])
  expect(readFaults({ UPSTREAMS })).toEqual([
    'UPSTREAMS entry 1 needs a "wire" of chat, responses, anthropic, gemini, demo.',
    'UPSTREAMS entry 1 has "models" that are not a list of texts.',
    'UPSTREAMS entry 1 has "quirks" that are not an object.',
    'UPSTREAMS entry 2 has no field "colour".',
    'UPSTREAMS entry 2 needs a "baseUrl".',
    'UPSTREAMS entry 2 has "headers" that are not texts by name.',
    'UPSTREAMS entry 3 must be an object.',
    'UPSTREAMS entry 4 needs a "name".',
    'UPSTREAMS entry 4 has a "baseUrl" that must be an address that begins with http:// or https://, not "nope".',
    'UPSTREAMS entry 4 takes its apiKey from env:NOWHERE, which is not set. Set it, or remove the entry.',
    'UPSTREAMS entry 4 has quirks that make no sense: quirks.query must be a string.',
  ])
})

test('the error about the settings lists every invalid entry of a list of keys', () => {
  const STORAGE_KEYS = `a:x, b:${'0'.repeat(64)},c`
  const [apiKeyFault, storageKeyFault] = readFaults({
    BACKSTORY_KEYS: 'sk-secret,b:sk2,:x',
    STORAGE_KEYS,
  })
  expect(apiKeyFault).toBe('BACKSTORY_KEYS must be name:key,name:key; entries 1, 3 are not.')
  expect(storageKeyFault).toMatch(/^STORAGE_KEYS must be kid:key.* entries 1, 3 are not\. `openssl/)
})

test('an unknown key name in CONTEXT is not reported if BACKSTORY_KEYS itself has a fault', () => {
  const faults = readFaults({ BACKSTORY_KEYS: 'ada', CONTEXT: '{"keys":{"ada":"lean"}}' })
  expect(faults).toEqual(['BACKSTORY_KEYS must be name:key,name:key; entry 1 is not.'])
})

test('an unknown kind of database is reported together with other faults, without its password', () => {
  const faults = readFaults({ DATABASE_URL: 'mysql://root:secret@x/db', RETENTION_DAYS: 'soon' })
  expect(faults).toHaveLength(2)
  expect(faults[0]).toMatch(/^DATABASE_URL starts with `mysql:`\. Use `sqlite:/)
  expect(faults[1]).toMatch(/^RETENTION_DAYS/)
  expect(faults.join('')).not.toContain('secret')
})

test('the error about a number setting that accepts `off` mentions `off`', () => {
  expect(readFaults({ TOOL_OUTPUT_RETENTION_TURNS: 'x', RETENTION_DAYS: 'soon' })).toEqual([
    'TOOL_OUTPUT_RETENTION_TURNS must be a whole number from 0 to 1000000, or off, not "x".',
    'RETENTION_DAYS must be a whole number from 1 to 36500, or off, not "soon".',
  ])
  const off = readSettings({ TOOL_OUTPUT_RETENTION_TURNS: 'off', RETENTION_DAYS: 'off' })
  expect([off.TOOL_OUTPUT_RETENTION_TURNS, off.RETENTION_DAYS]).toEqual(['off', null])
})

test('keys, header values and URLs in settings are trimmed', () => {
  const settings = readSettings({
    OPENAI_API_KEY: ' sk-1\n',
    ANTHROPIC_API_KEY: '\n',
    OPENAI_BASE_URL: 'http://x/v1/\n',
    KEY: 'sk-2\r\n',
    UPSTREAMS: JSON.stringify([
      { name: 'a', wire: 'demo', apiKey: 'env:KEY', headers: { 'x-a': ' b\n' } },
      { name: 'b', wire: 'chat', baseUrl: ' http://y ', apiKey: 'sk-3\n' },
    ]),
  })
  expect(settings).toMatchObject({
    OPENAI_API_KEY: 'sk-1',
    ANTHROPIC_API_KEY: null,
    OPENAI_BASE_URL: 'http://x/v1',
    UPSTREAMS: [
      { apiKey: 'sk-2', headers: { 'x-a': 'b' } },
      { apiKey: 'sk-3', baseUrl: 'http://y' },
    ],
  })
})

test('the error about a key or header with an invalid character names it without its value', () => {
  const faults = readFaults({
    OPENAI_API_KEY: '“sk-secret”',
    KEY: 'sk-\nsecret',
    BLANK: ' ',
    UPSTREAMS: JSON.stringify([
      { name: 'a', wire: 'demo', apiKey: 'env:KEY', headers: { 'x a': '1', 'x-b': '🦊' } },
      { name: 'b', wire: 'chat', baseUrl: 'http://y y/v1', apiKey: 'sk-secret’' },
      { name: 'c', wire: 'chat', baseUrl: 'http://y/“v1”', apiKey: 'env:BLANK' },
    ]),
  })
  expect(faults).toEqual([
    'UPSTREAMS entry 1 takes its apiKey from env:KEY, which holds a character that no header can hold: U+000A.',
    'UPSTREAMS entry 1 has a header "x a" that is not a valid header name.',
    'UPSTREAMS entry 1 has a header "x-b" that holds a character that no header can hold: U+1F98A.',
    expect.stringMatching(/^UPSTREAMS entry 2 has a "baseUrl" that must be an address/),
    'UPSTREAMS entry 2 has an "apiKey" that holds a character that no header can hold: U+2019.',
    expect.stringMatching(/^UPSTREAMS entry 3 has a "baseUrl" that must be an address/),
    'UPSTREAMS entry 3 takes its apiKey from env:BLANK, which is not set. Set it, or remove the entry.',
    'OPENAI_API_KEY holds a character that no header can hold: U+201C.',
  ])
})

test('the environment takes precedence over the settings file, and an empty variable counts as not set', () => {
  const settings = readSettings({ PORT: '1', HOST: '' }, { PORT: 2, HOST: '::1' })
  expect(settings.PORT).toBe(1)
  expect(settings.HOST).toBe(SETTINGS_TABLE.HOST.default)
})

test('an API key may contain colons', () => {
  expect(readSettings({ BACKSTORY_KEYS: 'a:sk:1, b:sk2' }).BACKSTORY_KEYS).toEqual([
    { name: 'a', key: 'sk:1' },
    { name: 'b', key: 'sk2' },
  ])
})

test('an error message about the settings never contains a key', () => {
  expect(() => readSettings({ BACKSTORY_KEYS: 'sk-secret' })).not.toThrow(/sk-secret/)
  expect(() => readSettings({ BACKSTORY_KEYS: 'sk-secret' })).toThrow(/entry 1/)
})

test('a setting with several values may be a JSON list in the settings file', () => {
  const upstream = { name: 'a', wire: 'demo' }
  expect(readSettings({}, { UPSTREAMS: [upstream] }).UPSTREAMS[0]).toMatchObject({
    name: 'a',
    models: ['*'],
  })
})

test('SPEAKER_GUARD accepts off, on, or a list of labels', () => {
  const read = (SPEAKER_GUARD: string) => readSettings({ SPEAKER_GUARD }).SPEAKER_GUARD
  expect(readSettings({}).SPEAKER_GUARD).toBe('off')
  expect([read('off'), read('on'), read('Ada, Ada (bot),')]).toEqual([
    'off',
    [],
    ['Ada', 'Ada (bot)'],
  ])
})

test('the error about an unknown choice in the settings lists the supported choices', () => {
  expect(readSettings({ UNSUPPORTED: 'reject' }).UNSUPPORTED).toBe('reject')
  expect(() => readSettings({ UNSUPPORTED: 'maybe' })).toThrow(
    /UNSUPPORTED must be one of note, reject, not "maybe"/,
  )
})

test('an unknown field of an upstream, and a key that belongs to two names, are rejected', () => {
  const upstream = { name: 'a', wire: 'demo', quirk: {} }
  expect(() => readSettings({}, { UPSTREAMS: [upstream] })).toThrow('has no field "quirk"')
  expect(() => readSettings({ BACKSTORY_KEYS: 'a:x,b:x' })).toThrow('the same key twice')
  expect(readSettings({ BACKSTORY_KEYS: 'a:x,a:y' }).BACKSTORY_KEYS).toHaveLength(2)
})

test('storage keys of 32 bytes are read as base64, base64url or hex, in their order', () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, index) => 255 - 5 * index)
  const entries = (['base64', 'base64url', 'hex'] as const).map((encoding, index) => {
    return `k.${index}:${Buffer.from(bytes).toString(encoding)}`
  })
  expect(readSettings({ STORAGE_KEYS: entries.join(', ') }).STORAGE_KEYS).toEqual(
    ['k.0', 'k.1', 'k.2'].map((kid) => ({ kid, key: bytes })),
  )
})

test('the error about an invalid storage key explains how to make a valid one, and does not contain the key', () => {
  const good = Buffer.alloc(32, 7).toString('base64')
  const short = Buffer.alloc(31, 7).toString('base64')
  for (const bad of ['secret', ':secret', `a b:${good}`, `k:${short}`, 'k:', `k:${good}${good}`]) {
    const read = () => readSettings({ STORAGE_KEYS: `first:${good},${bad}` })
    expect(read).toThrow(/STORAGE_KEYS must be kid:key.*entry 2 is not.*openssl rand -base64 32/)
    expect(read).not.toThrow(/secret|Bwc/)
  }
  expect(() => readSettings({ STORAGE_KEYS: `a:${good},a:${good}` })).toThrow('the same kid twice')
})

test('CONTEXT accepts the name of a policy, or JSON of overrides for all requests, by model and by key', () => {
  expect(readSettings({ CONTEXT: 'lean' }).CONTEXT).toEqual({
    all: { policy: 'lean' },
    models: {},
    keys: {},
  })
  const setting = {
    window: { turns: 4 },
    models: { 'qwen*': 'lean' },
    keys: { ada: { media: { images: 1 } } },
  }
  const expected = {
    all: { window: { turns: 4 } },
    models: { 'qwen*': { policy: 'lean' } },
    keys: { ada: { media: { images: 1 } } },
  }
  const BACKSTORY_KEYS = 'ada:key'
  expect(readSettings({ CONTEXT: JSON.stringify(setting), BACKSTORY_KEYS }).CONTEXT).toEqual(
    expected,
  )
  expect(readSettings({ BACKSTORY_KEYS }, { CONTEXT: setting }).CONTEXT).toEqual(expected)
})

test.each([
  ['frugal', /CONTEXT makes no sense: .*policy.*frugal.*Supported values are: 'replay'/],
  ['{', /CONTEXT must be the name of a policy, or a JSON object/],
  ['{"window":{"turns":0}}', /CONTEXT makes no sense: .*CONTEXT\.window\.turns.*>= 1, but got 0/],
  ['{"models":{"q":{"windows":{}}}}', /CONTEXT makes no sense: .*models\.q\.windows/],
  ['{"outputs":{"step":0},"media":{"images":-3},"nope":1}', /outputs\.step.*media\.images.*nope/],
  [
    '{"window":{"turns":0},"models":{"q":{"media":{"images":-1}}}}',
    /CONTEXT makes no sense: .*window\.turns.*\n- CONTEXT makes no sense: .*models\.q\.media/,
  ],
  ['{"budget":{"window":1000,"reserve":5000}}', /CONTEXT\.budget\.reserve.*less than `window`/],
  ['{"keys":[]}', /CONTEXT has `keys` that are not an object/],
  ['[]', /CONTEXT makes no sense/],
  ['{"keys":{"bob":"lean"}}', /CONTEXT has a policy for the key "bob"/],
])('the error about CONTEXT=%s lists all its faults', (setting, message) => {
  expect(() => readSettings({ CONTEXT: setting })).toThrow(message)
})

test('the setting for the maximum number of items is off by default, and rejects a number outside of its range (C25)', () => {
  expect(readSettings({}).HISTORY_MAX_ITEMS).toBeNull()
  expect(readSettings({ HISTORY_MAX_ITEMS: '40' }).HISTORY_MAX_ITEMS).toBe(40)
  for (const wrong of ['0', '-1', '2.5', 'many', '1000001']) {
    expect(() => readSettings({ HISTORY_MAX_ITEMS: wrong })).toThrow(/HISTORY_MAX_ITEMS must be/)
  }
})
