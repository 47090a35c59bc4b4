import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Item } from '../../../src/core/item.ts'
import type { PromptParameters } from '../../../src/core/prompt.ts'
import { gemini } from '../../../src/providers/gemini/gemini.ts'
import { conversation, tidyConversation } from '../../support/conversations.ts'
import { findGeminiFaults, findGeminiRefusal } from '../../support/gemini-laws.ts'
import {
  ACCOUNT,
  call,
  chunk,
  image,
  itemsOf,
  lastChunk,
  message,
  output,
  promptOf,
  decode,
  encode,
} from './kit.ts'

const model = fc.constantFrom(
  'gemini-3.8-flash',
  'gemini-3-pro-preview',
  'gemini-2.5-pro',
  'gemini-2.0-flash',
  'gemma-3-27b-it',
)

const params: fc.Arbitrary<Partial<PromptParameters>> = fc.record({
  model,
  effort: fc.constantFrom(null, 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'odd'),
  stop: fc.array(fc.constantFrom('', 'a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 9 }),
  presencePenalty: fc.constantFrom(null, 1),
  format: fc.constantFrom(null, { type: 'json_object' } as const),
  instructions: fc.constantFrom(null, '', 'Be brief.'),
})

/** Rounds with all kinds of items of a Gemini conversation, including signatures. */
const geminiRound: fc.Arbitrary<readonly Item[]> = fc
  .array(
    fc.constantFrom<readonly Item[]>(
      [message('assistant', 'Let me see.')],
      itemsOf(
        decode([
          chunk({ text: 'hm', thought: true }),
          chunk({ text: 'So', thoughtSignature: 'T' }),
          lastChunk(),
        ]),
      ),
      [
        ...itemsOf(
          decode([
            chunk(
              { functionCall: { name: 'look', args: {}, id: 'k' }, thoughtSignature: 'C' },
              { functionCall: { name: 'find', args: { a: 1 } } },
            ),
            lastChunk(),
          ]),
        ),
        output('k', 'seen'),
        output('call_answer1_1', [image('AAAA')]),
      ],
      [call('foreign', 'look', {}), output('foreign', '{"a":1}')],
      [message('system', 'Now hush.')],
      [{ type: 'opaque', raw: { type: 'image_generation_call', result: 'AAAA' } }],
    ),
    { maxLength: 4 },
  )
  .map((deeds) => [message('user', 'Next?', image('BBBB')), ...deeds.flat()])

const geminiConversation = fc.array(geminiRound, { maxLength: 4 }).map((rounds) => rounds.flat())

const anyConversation = fc.oneof(conversation, geminiConversation)

test('the Gemini encoder creates valid requests for arbitrary conversations', () => {
  fc.assert(
    fc.property(anyConversation, params, (items, some) => {
      const { path, body } = gemini.encode(promptOf(items, some), ACCOUNT)
      expect(findGeminiFaults(path, body)).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('the Gemini encoder creates equal requests for equal prompts and does not change the prompt', () => {
  fc.assert(
    fc.property(anyConversation, params, (items, some) => {
      const prompt = promptOf(items, some)
      const before = JSON.stringify(prompt.items)
      const first = JSON.stringify(gemini.encode(prompt, ACCOUNT))
      const copy = promptOf(structuredClone(items), structuredClone(some))
      expect(JSON.stringify(gemini.encode(copy, ACCOUNT))).toBe(first)
      expect(JSON.stringify(prompt.items)).toBe(before)
    }),
    { numRuns: 100 },
  )
})

test('a further answer and question leave all earlier turns of a Gemini request unchanged', () => {
  const question = message('user', 'And now?')
  const answer = message('assistant', 'This.')
  fc.assert(
    fc.property(fc.oneof(tidyConversation, geminiConversation), model, (items, name) => {
      const sent = (list: readonly Item[]) =>
        gemini.encode(promptOf(list, { model: name }), ACCOUNT).body
      const { contents: before, ...restBefore } = sent([...items, question])
      const { contents: after, ...restAfter } = sent([...items, question, answer, question])
      const shared = (before as readonly unknown[]).length
      expect((after as readonly unknown[]).slice(0, shared)).toEqual(before)
      expect(restAfter).toEqual(restBefore)
    }),
    { numRuns: 200 },
  )
})

test('a Gemini request contains every tool call of a consistent conversation with its output', () => {
  fc.assert(
    fc.property(tidyConversation, (items) => {
      const { body, codes } = encode(items)
      const sent = JSON.stringify(body).match(/"functionCall":/g)?.length ?? 0
      const calls = items.filter(
        ({ type }) => type === 'function_call' || type === 'custom_tool_call',
      )
      expect(sent).toBe(calls.length)
      expect(codes).not.toContain('output-without-call')
      expect(codes).not.toContain('call-without-output')
    }),
    { numRuns: 150 },
  )
})

test('the Gemini decoder emits events in a valid order for arbitrary chunks and keeps their signatures', () => {
  const part = fc.constantFrom<JsonObject>(
    { text: 'a' },
    { text: '' },
    { text: '', thoughtSignature: 'S' },
    { thoughtSignature: 'S' },
    { text: 'b', thoughtSignature: 'S' },
    { text: 'c', thought: true },
    { text: '', thought: true, thoughtSignature: 'S' },
    { functionCall: { name: 'f', args: { a: 1 } } },
    { functionCall: { name: 'f', id: 'x' }, thoughtSignature: 'S' },
    { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    { executableCode: { code: '1' } },
  )
  fc.assert(
    fc.property(fc.array(fc.array(part, { maxLength: 4 }), { maxLength: 6 }), (chunks) => {
      const items = itemsOf(decode([...chunks.map((parts) => chunk(...parts)), lastChunk()]))
      const outputs = items.flatMap((item) =>
        item.type === 'function_call' ? [output(item.call_id, 'done')] : [],
      )
      // The decoded items are sent back with exactly the signatures that they came with.
      const { body, codes } = encode(
        [message('user', 'Hi'), ...items, ...outputs, message('user', 'And?')],
        {
          model: 'gemini-2.5-pro',
        },
      )
      const signatures = (value: unknown) => JSON.stringify(value).match(/"S"/g)?.length ?? 0
      expect(codes).not.toContain('signature-of-edited-text')
      expect(signatures(body)).toBe(signatures(chunks))
    }),
    { numRuns: 300 },
  )
})

describe('the checker of Gemini requests that tests use', () => {
  const path = '/models/gemini-3.8-flash:generateContent'
  const user = { role: 'user', parts: [{ text: 'Hi' }] }
  const callTurn = {
    role: 'model',
    parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: 'S' }],
  }
  const responseTurn = { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] }

  test('the checker of Gemini requests accepts a valid request', () => {
    expect(findGeminiRefusal(path, { contents: [user, callTurn, responseTurn] })).toBeNull()
  })

  test.each<[string, JsonObject, RegExp]>([
    ['no turns', { contents: [] }, /not specified/],
    ['a model turn at the start', { contents: [callTurn, responseTurn] }, /first turn/],
    ['two turns of one role', { contents: [user, user] }, /alternate/],
    ['a turn without parts', { contents: [{ role: 'user', parts: [] }] }, /must not be empty/],
    ['an empty part', { contents: [{ role: 'user', parts: [{ text: '' }] }] }, /not empty/],
    [
      'a call without a response',
      { contents: [user, callTurn, user] },
      /number of function response parts/,
    ],
    ['a response without a call', { contents: [{ ...responseTurn }] }, /immediately after/],
    [
      'a call without a signature',
      {
        contents: [
          user,
          { ...callTurn, parts: [{ functionCall: { name: 'f', args: {} } }] },
          responseTurn,
        ],
      },
      /missing a thought_signature/,
    ],
    [
      'a model turn at the end',
      { contents: [user, { role: 'model', parts: [{ text: 'So' }] }] },
      /ending with a model turn/,
    ],
    ['an unknown field', { contents: [user], verbosity: 1 }, /Unknown name "verbosity"/],
    [
      'an unknown keyword',
      {
        contents: [user],
        tools: [
          {
            functionDeclarations: [
              { name: 'f', parameters: { type: 'object', additionalProperties: false } },
            ],
          },
        ],
      },
      /additionalProperties/,
    ],
    [
      'an invalid function name',
      { contents: [user], tools: [{ functionDeclarations: [{ name: '2' }] }] },
      /Invalid function name/,
    ],
    [
      'six stop sequences',
      { contents: [user], generationConfig: { stopSequences: ['1', '2', '3', '4', '5', '6'] } },
      /at most 5/,
    ],
    [
      'a tool choice without tools',
      { contents: [user], toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      /without function_declarations/,
    ],
    [
      'an unsupported thinking level',
      { contents: [user], generationConfig: { thinkingConfig: { thinkingLevel: 'MINIMAL' } } },
      /MINIMAL is not supported/,
    ],
    [
      'an animated image',
      {
        contents: [
          { role: 'user', parts: [{ inlineData: { mimeType: 'image/gif', data: 'AA' } }] },
        ],
      },
      /Unsupported MIME/,
    ],
  ])('the checker of Gemini requests rejects %s', (_, body, pattern) => {
    const refusal = findGeminiRefusal(path, body) as {
      readonly error: { readonly message: string }
    } | null
    expect(refusal?.error.message).toMatch(pattern)
  })
})
