import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { chatDialect } from '../../src/dialects/chat/chat-dialect.ts'
import type { Dialect } from '../../src/core/ports/dialect-interface.ts'
import { responsesDialect } from '../../src/dialects/responses/responses-dialect.ts'
import type { Provider } from '../../src/providers/provider-interface.ts'
import { PROVIDERS } from '../../src/providers/provider-registry.ts'
import { plainAccount } from '../support/account.ts'

const WIRES = Object.values(PROVIDERS).filter(({ wire }) => wire !== 'demo')
/** Folders whose name differs from their wire. */
const FOLDERS: Readonly<Record<string, string>> = {
  chat: 'openai-chat',
  responses: 'openai-responses',
}

describe.each(WIRES.map((provider) => [provider.wire, provider] as const))(
  'notes that the encoder of the wire %s writes',
  (wire, provider) => {
    test('the note table of each wire contains exactly the notes that its code writes, each with a sentence', () => {
      const folder = new URL(`../../src/providers/${FOLDERS[wire] ?? wire}/`, import.meta.url)
      const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && file !== 'encoding-notes.ts')
        .map((file) => readFileSync(new URL(file, folder), 'utf8'))
        .join('\n')
      const codes = Object.keys(provider.notes)
      expect(codes.filter((code) => !sources.includes(`'${code}'`))).toEqual([])
      for (const [code, [, sentence]] of Object.entries(provider.notes)) {
        expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
        expect(sentence).toMatch(/^[A-Z`].*\.$/)
      }
    })

    test.each([
      ['chat', chatDialect, CHAT],
      ['responses', responsesDialect, RESPONSES],
    ] as const)(
      'each note about a lost part of a %s request has an item index or a field',
      (_, dialect, body) => {
        const { notes } = encode(provider, dialect, body)
        for (const { did, at, field, why, by } of notes) {
          expect([why, did]).toEqual([why, provider.notes[why]?.[0]])
          expect(by).toBe(wire)
          if (did !== 'added') expect([why, at ?? field]).not.toEqual([why, undefined])
        }
      },
    )

    test('each wire sends stop sequences in order without duplicates, and the gateway handles the unsent ones', () => {
      const stop = ['a', '', 'b', 'a', '\n', 'c', 'd', 'e', 'f']
      const {
        body,
        unsentStopSequences = [],
        notes,
      } = encode(provider, responsesDialect, { ...QUESTION, stop })
      const given = readStops(body)
      const unique = ['a', 'b', '\n', 'c', 'd', 'e', 'f']
      expect([...given, ...unsentStopSequences].toSorted()).toEqual(unique.toSorted())
      expect(given).toEqual(unique.filter((each) => given.includes(each)))
      expect(unsentStopSequences).toEqual(unique.filter((each) => !given.includes(each)))
      expect(notes).toContainEqual({
        did: 'changed',
        field: 'stop',
        why: 'stop-enforced',
        by: wire,
      })
    })

    test('an unsupported parameter with its default value gets no note', () => {
      const { notes } = encode(provider, chatDialect, {
        model: 'm',
        messages: [{ role: 'user', content: 'Hi' }],
        n: 1,
        presence_penalty: 0,
        frequency_penalty: 0,
        logprobs: false,
        service_tier: 'auto',
        logit_bias: {},
        tool_choice: 'auto',
        stop: [],
      })
      expect(notes).toEqual([])
    })
  },
)

const QUESTION = { model: 'm', input: 'Hi' }

const CHAT = {
  model: 'm',
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'user', name: 'ada', content: [{ type: 'image_url', image_url: { url: 'x:/a.png' } }] },
    { role: 'user', content: [{ type: 'video_url', video_url: { url: 'y' } }] },
    { role: 'developer', content: 'Be kind.' },
  ],
  tools: [
    { type: 'function', function: { name: 'f.g', strict: true, parameters: { anyOf: [{}] } } },
    { type: 'custom', custom: { name: 'sh' } },
    { type: 'hosted', hosted: {} },
  ],
  tool_choice: { type: 'odd' },
  parallel_tool_calls: false,
  seed: 1,
  n: 2,
  logit_bias: { 1: 2 },
  logprobs: true,
  top_logprobs: 3,
  presence_penalty: 1,
  verbosity: 'low',
  prompt_cache_key: 'k',
  user: 'u'.repeat(300),
  service_tier: 'scale',
  stop: ['a', 'b', 'c', 'd', 'e', 'f', ' '],
  prediction: { type: 'content', content: 'x' },
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { pattern: 'x' } } },
  reasoning_effort: 'heroic',
  future: 1,
}

const RESPONSES = {
  model: 'm',
  input: [
    { role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] },
    { role: 'user', content: [{ type: 'input_image', file_id: 'file_2', detail: 'low' }] },
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'reasoning', id: 'rs_1', summary: [] },
  ],
  tools: [{ type: 'web_search' }],
  tool_choice: { type: 'web_search' },
  reasoning: { effort: 'heroic', summary: 'auto' },
  text: { format: { type: 'json_object' }, verbosity: 'low' },
  max_output_tokens: 1,
  include: ['file_search_call.results'],
  seed: 1,
  future: 1,
}

function encode(provider: Provider, dialect: Dialect, body: object) {
  const clientRequest = dialect.parse(body as JsonObject)
  const { items, params, stream } = clientRequest
  const source = {
    dialect: dialect.name,
    body: clientRequest.body,
    bytes: clientRequest.bytes,
    items,
    params,
  }
  return provider.encode({ items, params, stream, source }, plainAccount(provider.wire))
}

function readStops(body: JsonObject): readonly string[] {
  const config = body['generationConfig'] as JsonObject | undefined
  const stops = body['stop'] ?? body['stop_sequences'] ?? config?.['stopSequences'] ?? []
  return stops as readonly string[]
}
