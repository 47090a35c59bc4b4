/** Properties: every encoded request is valid for OpenAI, and each change has a note. */
import { PRESETS } from '../../../../src/core/context-policy.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Origin } from '../../../../src/core/item.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { PromptParameters } from '../../../../src/core/prompt.ts'
import { encodeRequest } from '../../../../src/providers/openai-responses/request/encode-request.ts'
import type { EncodedRequest } from '../../../../src/providers/provider-interface.ts'
import { NOTES } from '../../../../src/providers/openai-responses/encoding-notes.ts'
import { listTransforms, runTransforms } from '../../../../src/context/list-and-run-transforms.ts'
import { tidyConversation, messyConversation } from '../../../support/conversations.ts'
import { findResponsesFaults } from '../../../support/responses-laws.ts'
import {
  ACCOUNT,
  accountWith,
  ASK,
  chatPrompt,
  parseBody,
  promptOf,
} from '../../../support/responses-kit.ts'
import { talk } from '../../../support/talk.ts'
import { hasOpenCall } from '../../../support/has-open-call.ts'

const NO_LIMITS = { policy: PRESETS.replay, reader: null }

/** The items of a conversation with ids and origins, as the store returns them. */
const storedItems: fc.Arbitrary<readonly Item[]> = fc
  .tuple(fc.oneof(tidyConversation, messyConversation), fc.array(fc.nat(), { maxLength: 12 }))
  .map(([items, picks]) => {
    // A call at the end that waits for its output would be rejected.
    const complete = hasOpenCall(items) ? [...items, ...talk`user: so?`] : items
    const { items: sent } = runTransforms(complete, listTransforms(NO_LIMITS))
    return sent.map((item, at) => asStored(item, picks[at] ?? 0))
  })

const ORIGINS: readonly (Origin | undefined)[] = [
  undefined,
  { wire: 'responses', account: 'openai', model: 'gpt-5', prefixHash: null },
  { wire: 'responses', account: 'azure', model: 'gpt-5', prefixHash: null },
  { wire: 'anthropic', account: 'claude', model: 'claude', prefixHash: 'x' },
]

function asStored(item: Item, pick: number): Item {
  const origin = ORIGINS[pick % ORIGINS.length]
  // An origin could drop one half of an opaque call and output, which would be invalid.
  if (item.type === 'opaque' || origin === undefined) return item
  const named = pick % 3 === 0 ? item : { ...item, id: `toolu_${pick}` }
  return { ...named, origin, native: { anthropic: { signature: 'x' } } }
}

const parameters: fc.Arbitrary<Partial<PromptParameters>> = fc.record(
  {
    maxOutputTokens: fc.constantFrom(1, 16, 100),
    stop: fc.constant(['END']),
    seed: fc.constant(1),
    topLogprobs: fc.constant(2),
    effort: fc.constant('low'),
    toolChoice: fc.constantFrom<PromptParameters['toolChoice']>(
      { type: 'required' },
      { type: 'function', name: 'look' },
      { type: 'allowed', mode: 'auto', names: ['look'] },
      { type: 'opaque', raw: { type: 'x' } },
    ),
    tools: fc.constantFrom<PromptParameters['tools']>(
      [],
      [{ type: 'function', name: 'look', description: null, parameters: null, strict: false }],
      [{ type: 'opaque', raw: { type: 'x' } }],
    ),
    extra: fc.constantFrom<JsonObject>({}, { n: 2 }, { prompt_cache_retention: '24h' }),
    model: fc.constantFrom('gpt-5', 'gpt-4o'),
  },
  { requiredKeys: [] },
)

function readSentBody({ body, bytes }: Pick<EncodedRequest, 'body' | 'bytes'>): JsonObject {
  const parsedBody = JSON.parse(JSON.stringify(body)) as JsonObject
  if (bytes !== undefined) expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(parsedBody)
  return parsedBody
}

describe('properties of encoded Responses requests', () => {
  test('the Responses encoder creates valid requests for arbitrary conversations of Chat Completions clients', () => {
    fc.assert(
      fc.property(storedItems, parameters, (items, params) => {
        expect(
          findResponsesFaults(readSentBody(encodeRequest(chatPrompt(items, params), ACCOUNT))),
        ).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  const bodies = fc.record(
    {
      previous_response_id: fc.constantFrom('resp_1', ''),
      reasoning_effort: fc.constant('low'),
      seed: fc.constantFrom(1, null),
      max_output_tokens: fc.constantFrom(1, 20),
      include: fc.constantFrom<string[]>([], ['reasoning.raw']),
      stream_options: fc.constant({ include_usage: true }),
      tool_choice: fc.constant({ type: 'function', function: { name: 'f' } }),
      tools: fc.constant([{ type: 'function', name: 'f', strict: true }]),
      background: fc.boolean(),
    },
    { requiredKeys: ['tools'] },
  )

  test('the Responses encoder creates valid requests for arbitrary conversations of Responses clients', () => {
    fc.assert(
      fc.property(storedItems, bodies, (items, body) => {
        const encoded = encodeRequest(promptOf(parseBody({ ...ASK, ...body }), items), ACCOUNT)
        expect(findResponsesFaults(readSentBody(encoded))).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})

test('the Responses encoder writes a note for each item that it changes or drops', () => {
  fc.assert(
    fc.property(storedItems, (items) => {
      const { body, notes } = encodeRequest(promptOf(parseBody(ASK), items), accountWith({}))
      const input = readSentBody({ body })['input'] as readonly JsonObject[]
      const droppableTypes = new Set(['reasoning', 'opaque'])
      const dropped = notes.filter(
        ({ did, at = -1 }) => did === 'dropped' && droppableTypes.has(items[at]?.type ?? ''),
      )
      expect(input).toHaveLength(items.length - dropped.length)
      const noted = new Set(notes.map(({ at }) => at))
      const rest = items.filter((_item, at) => !dropped.some((note) => note.at === at))
      for (const [at, item] of rest.entries()) {
        if (noted.has(items.indexOf(item))) continue
        expect(input[at]).toEqual(JSON.parse(JSON.stringify(removeGatewayFields(item))))
      }
      for (const { why, by, did } of notes) {
        expect([by, did]).toEqual(['responses', NOTES[why as keyof typeof NOTES][0]])
      }
    }),
  )
})

function removeGatewayFields(item: Item): JsonObject {
  const { native: _native, origin: _origin, ...own } = item
  return own.type === 'opaque' ? own.raw : (own as unknown as JsonObject)
}

test('the Responses encoder creates the same bytes for equal prompts (C1)', () => {
  fc.assert(
    fc.property(storedItems, (items) => {
      const once = () => JSON.stringify(encodeRequest(chatPrompt(items), ACCOUNT).body)
      expect(once()).toBe(once())
    }),
    { numRuns: 30 },
  )
})

test('the Responses encoder repeats the earlier input unchanged when new items follow', () => {
  fc.assert(
    fc.property(storedItems, (items) => {
      const inputOf = (all: readonly Item[]) =>
        readSentBody(encodeRequest(chatPrompt(all), ACCOUNT))['input'] as readonly unknown[]
      const before = inputOf(items)
      expect(inputOf([...items, ...talk`user: more`]).slice(0, before.length)).toEqual(before)
    }),
  )
})

describe('the checker of Responses requests that tests use', () => {
  const body = (input: unknown, more: JsonObject = {}) =>
    findResponsesFaults({ model: 'm', store: false, input: input as JsonObject[], ...more })
  const CALL = { type: 'function_call', call_id: 'c', name: 'f', arguments: '' }
  const OUTPUT = { type: 'function_call_output', call_id: 'c', output: 'x' }
  const ENCRYPTED = { type: 'reasoning', summary: [], encrypted_content: 'e' }

  test('the checker of Responses requests accepts a valid request', () => {
    expect(body([ENCRYPTED, CALL, OUTPUT])).toEqual([])
  })

  test.each<[string, unknown, JsonObject?]>([
    ['an output without its call', [OUTPUT]],
    ['a call without its output', [CALL]],
    ['an output before its call', [OUTPUT, CALL]],
    ['reasoning without a following item', [ENCRYPTED]],
    ['reasoning before a question', [ENCRYPTED, { type: 'message', role: 'user', content: [] }]],
    ['an id of reasoning', [{ ...ENCRYPTED, id: 'rs_1' }, CALL, OUTPUT]],
    [
      'reasoning without text or encrypted content',
      [{ type: 'reasoning', summary: [] }, CALL, OUTPUT],
    ],
    ['reasoning without a summary', [{ ...ENCRYPTED, summary: undefined }, CALL, OUTPUT]],
    ['a foreign id', [{ ...CALL, id: 'toolu_1' }, OUTPUT]],
    ['a long call_id', [CALL, OUTPUT].map((item) => ({ ...item, call_id: 'c'.repeat(65) }))],
    [
      'a part type of another role',
      [{ type: 'message', role: 'user', content: [{ type: 'output_text' }] }],
    ],
    ['a field of the gateway', [{ ...CALL, native: {} }, OUTPUT]],
    ['a reference', [{ type: 'item_reference', id: 'msg_1' }]],
    ['an unknown field', [], { stop: ['a'] }],
    ['`store: true`', [], { store: true }],
    ['too few tokens', [], { max_output_tokens: 1 }],
    ['a tool without `strict`', [], { tools: [{ type: 'function', name: 'f' }] }],
    ['a choice without tools', [], { tool_choice: 'auto' }],
  ])('the checker of Responses requests rejects %s', (_name, input, more) => {
    expect(body(input, more)).not.toEqual([])
  })
})
