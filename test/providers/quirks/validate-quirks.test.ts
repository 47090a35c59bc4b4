/** Tests the validation of quirks and the tables that define them. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { COMMON_QUIRKS } from '../../../src/providers/quirks/common-quirks.ts'
import { SERVICE_QUIRK_PROFILES } from '../../../src/providers/openai-chat/service-quirk-profiles.ts'
import { PROVIDERS } from '../../../src/providers/provider-registry.ts'
import { validateQuirks } from '../../../src/providers/quirks/validate-quirks.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'

test('validateQuirks reports invalid values and quirks of other wires', () => {
  const quirks = {
    profile: 'nobody',
    developerRole: 'yes',
    callIdPattern: '(',
    refuses: 'stop',
    thinkTags: false,
    constructor: 1,
    maxStops: -1,
    jsonSchema: true,
  }
  expect(validateQuirks('chat', quirks)).toEqual([
    `quirks.profile must be one of: ${Object.keys(SERVICE_QUIRK_PROFILES).join(', ')}.`,
    'quirks.developerRole must be true or false.',
    'quirks.callIdPattern must be a regular expression.',
    'quirks.refuses must be a list of field names.',
    'quirks.thinkTags must be one of: true, unopened.',
    'quirks.constructor is not known to the chat wire.',
    'quirks.maxStops must be a whole number.',
    'quirks.jsonSchema is not known to the chat wire.',
  ])
})

test('validateQuirks reports no errors for valid quirks', () => {
  expect(validateQuirks('chat', { profile: 'groq', callIdPattern: '^a', toolMedia: true })).toEqual(
    [],
  )
  expect(validateQuirks('responses', { passes: ['seed'], minOutputTokens: 1 })).toEqual([])
  expect(validateQuirks('anthropic', { cacheControl: '1h', thinking: 'budget' })).toEqual([])
  expect(validateQuirks('gemini', { jsonSchema: true, inlineLimitBytes: 1e6 })).toEqual([])
})

test.each(Object.values(PROVIDERS).map(({ wire }) => wire))(
  'an account with the wire %s accepts the quirks that every wire has',
  (wire) => {
    expect(validateQuirks(wire, { contextWindow: 8192, degrade: true, stop: ['<|end|>'] })).toEqual(
      [],
    )
    expect(
      validateQuirks(wire, { contextWindow: { 'qwen*': 1, '*': 2 }, speakerGuard: ['Ada'] }),
    ).toEqual([])
    expect(
      validateQuirks(wire, { contextWindow: { '*': '8k' }, speakerGuard: 'on', stop: 'x' }),
    ).toEqual([
      'quirks.contextWindow must be a number of tokens, or such numbers by model.',
      'quirks.speakerGuard must be true, false or a list of labels.',
      'quirks.stop must be a list of stop sequences.',
    ])
  },
)

test('the gateway does not start with an invalid quirk, and its error names the quirk', () => {
  const upstream = {
    name: 'a',
    wire: 'chat',
    baseUrl: 'http://x',
    quirks: { maxStop: 1, query: 2 },
  }
  expect(() => readSettings({ UPSTREAMS: JSON.stringify([upstream]) })).toThrow(
    'UPSTREAMS entry 1 has quirks that make no sense: quirks.maxStop is not known to the chat wire. quirks.query must be a string.',
  )
})

describe('tables of quirks', () => {
  const tables = [COMMON_QUIRKS, ...Object.values(PROVIDERS).map(({ quirks }) => quirks)]
  const names = new Set(tables.flatMap((table) => Object.keys(table)))
  const src = new URL('../../../src/', import.meta.url)
  const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/(\/|common-|-service-)quirks\.ts$/.test(file))
    .map((file) => readFileSync(new URL(file, src), 'utf8'))

  test('the quirk tables contain exactly the quirks that the code reads', () => {
    const read = sources.flatMap((source) => [
      ...[...source.matchAll(/quirks\['(\w+)'\]/g)].map((match) => match[1] ?? ''),
      ...[...source.matchAll(/\{([^{}]*)\} = (?:\w+\.)*quirks\n/g)].flatMap((match) =>
        (match[1] ?? '').split(',').map((name) => name.replace(/[:=].*/s, '').trim()),
      ),
    ])
    expect(read.filter((name) => name !== '' && !names.has(name))).toEqual([])
    // These quirks are read by other means: see `quirksOf` of the chat wire, and `quirks.ts` of the
    // other wires.
    const gathered = ['profile', 'jsonSchema', 'remoteUrls', 'inlineLimitBytes', 'callIds']
    const words = new Set(sources.flatMap((source) => source.match(/\w+/g) ?? []))
    expect([...names].filter((name) => !gathered.includes(name) && !words.has(name))).toEqual([])
  })

  test('each quirk in the tables has a description and its accepted values', () => {
    for (const [name, { acceptedValues, description }] of tables.flatMap((table) =>
      Object.entries(table),
    )) {
      expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z`][^|\n]*\.$/)])
      expect([name, acceptedValues]).toEqual([name, expect.stringMatching(/^[a-z][^|\n]*[^.]$/)])
    }
  })
})
