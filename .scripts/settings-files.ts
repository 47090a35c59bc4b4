/**
 * Renders `.env.example` and the JSON Schema of `backstory.json` from the settings table.
 * `npm run docs` writes both files; `test/settings/settings-files.test.ts` compares them.
 */
import { POLICY_NAMES } from '../src/core/context-policy.ts'
import type { JsonObject } from '../src/core/json/json.ts'
import { toSnakeCase } from '../src/core/text/snake-case.ts'
import { POLICY_FIELDS } from '../src/dialects/context-policy/policy-fields.ts'
import { WIRE_NAMES } from '../src/providers/provider-interface.ts'
import { COMMON_QUIRKS } from '../src/providers/quirks/common-quirks.ts'
import { PROVIDERS } from '../src/providers/provider-registry.ts'
import { SETTINGS_TABLE, type Setting } from '../src/settings/settings-table.ts'

/** The generated files, by path from the root of the repository. */
export const SETTINGS_FILES: Readonly<Record<string, () => string>> = {
  '.env.example': renderEnvExample,
  '.github/settings.schema.json': () => `${JSON.stringify(createSettingsSchema(), null, 2)}\n`,
}

const SETTINGS = Object.entries<Setting<unknown>>(SETTINGS_TABLE)

const ENV_HEADER = `Every setting of Backstory with its default. An empty value counts as not set.

With Docker: copy this file to \`.env\` and remove the \`#\` before each setting that you change.
\`docker compose up\` reads it. HOST and PORT are then the address of the container on this machine.

Without Docker: \`node --env-file=.env src/main/start.js\` (Node 24 or newer).

Put JSON between single quotes, as in MODELS='{"fast": "gpt-5-mini"}'.`

const MAX_COLUMNS = 100

function renderEnvExample(): string {
  const entries = SETTINGS.map(([name, setting]) => {
    return `${renderComment(renderPlainText(setting.description))}\n#${name}=${renderDefault(setting)}\n`
  })
  return [`${renderComment(ENV_HEADER)}\n`, ...entries].join('\n')
}

/** `90` → `90`, shown as `` `retain` `` → `retain`, shown as `none` → an empty text. */
function renderDefault({ default: value, shownDefault }: Setting<unknown>): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  return /^`([^`]+)`$/.exec(shownDefault ?? '')?.[1] ?? ''
}

/** Replaces the Markdown of the README: `[its fields](src/a.md#b)` → `its fields (src/a.md)`. */
function renderPlainText(sentence: string): string {
  return sentence.replaceAll('\\|', '|').replaceAll(/\[([^\]]+)\]\(([^)#]+)[^)]*\)/g, '$1 ($2)')
}

function renderComment(text: string): string {
  return text
    .split('\n')
    .flatMap((line) => wrapWords(line, MAX_COLUMNS - '# '.length))
    .map((line) => `# ${line}`.trimEnd())
    .join('\n')
}

function wrapWords(text: string, columns: number): readonly string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`.trimStart()
    if (longer.length <= columns) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** Describes the values that are natural in JSON. The gateway also accepts each of them as a text. */
export function createSettingsSchema(): JsonObject {
  const properties = SETTINGS.map(([name, setting]) => {
    const description = renderPlainText(setting.description)
    return [name, { description, ...describeDefault(setting), ...describeValue(name, setting) }]
  })
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of Backstory (backstory.json)',
    type: 'object',
    properties: { $schema: TEXT, ...(Object.fromEntries(properties) as JsonObject) },
    additionalProperties: false,
    $defs: createPolicySectionSchemas(),
  }
}

function describeDefault({ default: value }: Setting<unknown>): JsonObject {
  return typeof value === 'string' || typeof value === 'number' ? { default: value } : {}
}

/** Settings whose reader does not list the accepted values in its message. */
const STRUCTURED_VALUES: Readonly<Record<string, () => JsonObject>> = {
  CONTEXT: createContextSchema,
  MEDIA_FETCH_ALLOW: () => ({ anyOf: [TEXT, list(TEXT)] }),
  MODELS: () => byName({ anyOf: [TEXT, { ...list(TEXT), minItems: 1 }] }),
  UPSTREAMS: () => list(createUpstreamSchema()),
}

/** Reads limits and choices from the message with which a reader rejects `{}`. */
function describeValue(name: string, { read }: Setting<unknown>): JsonObject {
  const structured = STRUCTURED_VALUES[name]
  if (structured !== undefined) return structured()
  const message = catchMessage(() => read({}, {}))
  const [, min, max, off] =
    /^must be a whole number from (\d+) to (\d+)(, or off)?/.exec(message) ?? []
  if (min !== undefined) {
    const number = { type: 'integer', minimum: Number(min), maximum: Number(max) }
    return off === undefined ? number : { anyOf: [number, { const: 'off' }] }
  }
  const [, choices] = /^must be one of (.+), not /.exec(message) ?? []
  return choices === undefined ? TEXT : { enum: choices.split(', ') }
}

function catchMessage(read: () => unknown): string {
  try {
    read()
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : ''
  }
  return ''
}

const TEXT = { type: 'string' }

function list(items: JsonObject): JsonObject {
  return { type: 'array', items }
}

function byName(value: JsonObject): JsonObject {
  return { type: 'object', additionalProperties: value }
}

function closedObject(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required: [...required], additionalProperties: false }
}

function createUpstreamSchema(): JsonObject {
  return closedObject(
    {
      name: TEXT,
      wire: { enum: [...WIRE_NAMES] },
      baseUrl: TEXT,
      apiKey: { type: ['string', 'null'] },
      models: list(TEXT),
      headers: byName(TEXT),
      quirks: createQuirksSchema(),
    },
    ['name', 'wire'],
  )
}

/** Allows the quirks of all wires: which of them a wire knows depends on the entry's `wire`. */
function createQuirksSchema(): JsonObject {
  const tables = [COMMON_QUIRKS, ...Object.values(PROVIDERS).map(({ quirks }) => quirks)]
  const quirks = tables.flatMap((table) =>
    Object.entries(table).map(([name, { acceptedValues, description }]) => {
      return [name, { description: `${description} (${acceptedValues})` }] as const
    }),
  )
  return closedObject(Object.fromEntries(quirks))
}

function createContextSchema(): JsonObject {
  const sections = Object.keys(POLICY_FIELDS).map((name) => [name, { $ref: `#/$defs/${name}` }])
  const fields = { policy: POLICY_NAME, ...(Object.fromEntries(sections) as JsonObject) }
  const overrides = byName({ anyOf: [POLICY_NAME, closedObject(fields)] })
  return {
    anyOf: [POLICY_NAME, closedObject({ ...fields, models: overrides, keys: overrides })],
  }
}

const POLICY_NAME = { enum: [...POLICY_NAMES] }

/** Describes each section of a context policy once, because a setting of CONTEXT repeats them. */
function createPolicySectionSchemas(): JsonObject {
  const sections = Object.entries(POLICY_FIELDS).map(([section, fields]) => {
    const properties = Object.entries(fields).map(([field, { accepts, description }]) => {
      return [toSnakeCase(field), { description: `${description} (${accepts})` }] as const
    })
    return [section, closedObject(Object.fromEntries(properties))] as const
  })
  return Object.fromEntries(sections)
}
