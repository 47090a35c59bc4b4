import { Validator } from '@cfworker/json-schema'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSettingsSchema, SETTINGS_FILES } from '../../.scripts/settings-files.ts'
import { readSettings } from '../../src/settings/read-settings.ts'
import { SETTINGS_TABLE } from '../../src/settings/settings-table.ts'

const readFromRoot = (path: string) =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test.each(Object.entries(SETTINGS_FILES))(
  'the file %s equals what `npm run docs` writes',
  (path, render) => {
    expect(readFromRoot(path)).toBe(render())
  },
)

test('.env.example names every setting, and its values are valid', () => {
  const lines = [...readFromRoot('.env.example').matchAll(/^#([A-Z_]+)=(.*)$/gm)]
  const environment = Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value]))
  expect(Object.keys(environment)).toEqual(Object.keys(SETTINGS_TABLE))
  expect(readSettings(environment)).toEqual({
    ...readSettings({}),
    CONTEXT: { all: { policy: 'retain' }, models: {}, keys: {} },
  })
})

const validator = new Validator(createSettingsSchema(), '2020-12')

const demo = { name: 'demo', wire: 'demo' }

test.each([
  { $schema: './.github/settings.schema.json', PORT: 8080 },
  { PORT: 0, RETENTION_DAYS: 'off', MARKERS: 'never', HOST: '0.0.0.0' },
  { RETENTION_DAYS: 30, TOOL_OUTPUT_RETENTION_TURNS: 8, SPEAKER_GUARD: 'Ada,Ada (bot)' },
  { CONTEXT: 'lean' },
  { CONTEXT: { policy: 'lean', window: { turns: 9 }, models: { 'qwen*': 'replay' } } },
  { CONTEXT: { outputs: { keep_turns: 3 }, models: { '*': { window: { turns: 20 } } } } },
  {
    UPSTREAMS: [
      demo,
      { ...demo, models: ['demo*'], headers: { 'x-a': '1' }, quirks: { delayMs: 0 } },
    ],
  },
  { UPSTREAMS: [{ ...demo, apiKey: null }], MODELS: { fast: 'demo', best: ['demo', 'demo-2'] } },
  { MEDIA_FETCH_ALLOW: ['10.0.0.7:9000'] },
])('the settings schema and the gateway accept %j', (settings) => {
  expect(validator.validate(settings).errors).toEqual([])
  expect(() => readSettings({}, settings)).not.toThrow()
})

test.each([
  { PORTS: 1 },
  { PORT: 70_000 },
  { PORT: 1.5 },
  { RETENTION_DAYS: 'never' },
  { MARKERS: 'sometimes' },
  { HOST: 1 },
  { CONTEXT: 'fat' },
  { CONTEXT: { outputs: { keepTurns: 3 } } },
  { CONTEXT: { models: { '*': { windows: {} } } } },
  { UPSTREAMS: [{ name: 'x' }] },
  { UPSTREAMS: [{ ...demo, colour: 'red' }] },
  { UPSTREAMS: [{ ...demo, quirks: { sings: true } }] },
  { MODELS: { best: [] } },
  { MEDIA_FETCH_ALLOW: [5] },
])('the settings schema and the gateway reject %j', (settings) => {
  expect(validator.validate(settings).valid).toBe(false)
  expect(() => readSettings({}, settings)).toThrow('The settings have faults')
})
