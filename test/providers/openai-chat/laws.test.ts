/** Properties: every encoded request is valid for a strict service, and no input breaks the decoder. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'
import { NOTES } from '../../../src/providers/openai-chat/encoding-notes.ts'
import { SERVICE_QUIRK_PROFILES } from '../../../src/providers/openai-chat/service-quirk-profiles.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'
import { findChatFaults } from '../../support/chat-laws.ts'
import { conversation, tidyConversation } from '../../support/conversations.ts'
import { findEventFaults } from '../../support/event-laws.ts'
import { accountOf, itemsIn, promptOf, encodePrompt, user } from './kit.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'

const quirkSets = fc
  .constantFrom(...Object.keys(SERVICE_QUIRK_PROFILES), 'none', 'strict')
  .map((name): JsonObject =>
    name === 'strict'
      ? { strictAlternation: true, userAfterTool: false, prefixCompletion: false }
      : { profile: name },
  )

describe('properties of encoded Chat Completions requests', () => {
  test('the chat encoder creates a valid request for every valid conversation', () => {
    fc.assert(
      fc.property(tidyConversation, quirkSets, (items, quirks) => {
        const { body } = encodePrompt(promptOf([...items, user('so?')]), quirks)
        expect(findChatFaults(body)).toEqual([])
      }),
      numberOfRuns(300),
    )
  })

  test('the chat encoder writes one note for each opaque or reasoning item, which it cannot send', () => {
    fc.assert(
      fc.property(conversation, (items) => {
        const { body, notes } = encodePrompt(promptOf(items))
        const sent = JSON.stringify(body)
        for (const [at, item] of items.entries()) {
          if (item.type !== 'opaque' && item.type !== 'reasoning') continue
          expect(notes.filter((note) => note.at === at)).toHaveLength(1)
        }
        expect(sent).not.toContain('"$')
        expect(sent).not.toContain('"native"')
        for (const { why, did } of notes) expect(NOTES[why as keyof typeof NOTES][0]).toBe(did)
      }),
      numberOfRuns(150),
    )
  })

  test('the chat encoder repeats the earlier messages unchanged when the conversation continues', () => {
    fc.assert(
      fc.property(tidyConversation, tidyConversation, (before, after) => {
        const more = [user('and?'), ...after]
        const messagesOf = (items: readonly Item[]) =>
          encodePrompt(promptOf(items)).messages as JsonObject[]
        const first = messagesOf(before)
        expect(messagesOf([...before, ...more]).slice(0, first.length)).toEqual(first)
      }),
      numberOfRuns(150),
    )
  })

  test('the chat encoder creates equal requests for equal prompts and does not change the prompt', () => {
    fc.assert(
      fc.property(conversation, quirkSets, (items, quirks) => {
        const before = JSON.stringify(items)
        const once = encodePrompt(promptOf(items), quirks)
        expect(encodePrompt(promptOf(items), quirks)).toEqual(once)
        expect(JSON.stringify(items)).toBe(before)
      }),
      numberOfRuns(60),
    )
  })
})

describe('properties of decoded Chat Completions answers', () => {
  const field = fc.oneof(
    fc.constantFrom(null, '', 'a', '{"x":1}', 0, 1, true),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const fragment = fc.record(
    {
      index: fc.constantFrom(0, 1, null, 'x'),
      id: fc.constantFrom('', 'a', 'b', null, 3),
      type: fc.constantFrom('function', 'custom', null),
      function: fc.record(
        { name: fc.constantFrom('f', 'g', '', null), arguments: field },
        { requiredKeys: [] },
      ),
      custom: field,
    },
    { requiredKeys: [] },
  )
  const delta = fc.record(
    {
      role: field,
      content: field,
      refusal: field,
      reasoning: field,
      reasoning_content: field,
      reasoning_details: fc.oneof(
        field,
        fc.array(
          fc.record({ type: fc.constantFrom('reasoning.text', 1), text: field, index: field }),
        ),
      ),
      tool_calls: fc.oneof(field, fc.array(fragment, { maxLength: 3 })),
      function_call: field,
      annotations: fc.oneof(field, fc.array(fc.record({ url_citation: field }))),
      images: fc.oneof(field, fc.array(fc.record({ type: field }))),
      audio: field,
      extra_content: field,
    },
    { requiredKeys: [] },
  )
  const choice = fc.record(
    {
      index: fc.constantFrom(0, 1, null),
      delta: fc.oneof({ weight: 5, arbitrary: delta }, field),
      finish_reason: fc.constantFrom(null, 'stop', 'length', '', 3),
      logprobs: field,
    },
    { requiredKeys: ['delta'] },
  )
  const chunk = fc.record(
    {
      id: field,
      model: field,
      created: field,
      choices: fc.oneof({ weight: 5, arbitrary: fc.array(choice, { maxLength: 2 }) }, field),
      usage: field,
    },
    { requiredKeys: ['choices'] },
  )
  const data = fc.oneof(
    { weight: 9, arbitrary: chunk.map((json) => JSON.stringify(json)) },
    { weight: 1, arbitrary: fc.oneof(fc.string(), fc.json(), fc.constant('[DONE]')) },
  )
  const quirks = fc.constantFrom<JsonObject>({}, { thinkTags: true }, { thinkTags: 'unopened' })

  test('the chat decoder emits valid events for a stream with arbitrary content', () => {
    fc.assert(
      fc.property(fc.array(data, { maxLength: 12 }), quirks, (all, accountQuirks) => {
        const messages = all.map((one) => ({ data: one }))
        const events = runStage(openaiChat.createDecoder(accountOf(accountQuirks)), messages)
        expect(findEventFaults(events)).toEqual([])
        for (const item of itemsIn(events)) {
          if (item.type === 'function_call') expect(item.call_id).not.toBe('')
        }
      }),
      numberOfRuns(400),
    )
  })

  test('the chat decoder emits valid events for a non-streamed body with arbitrary content', () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            id: field,
            choices: fc.array(fc.record({ message: delta }), { maxLength: 2 }),
            usage: field,
          },
          { requiredKeys: [] },
        ),
        (body) => {
          expect(findEventFaults(openaiChat.decodeBody(body as JsonObject, accountOf()))).toEqual(
            [],
          )
        },
      ),
      numberOfRuns(200),
    )
  })

  test('an arbitrary error body of a chat service gives a failure with status, type, code, message and param', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 400, max: 599 }),
        fc.jsonValue({ maxDepth: 3 }),
        (status, body) => {
          const errorBody =
            typeof body === 'object' && !Array.isArray(body) ? body : JSON.stringify(body)
          const failure = openaiChat.parseErrorResponse(status, errorBody ?? '')
          expect(Object.keys(failure).toSorted()).toEqual([
            'code',
            'message',
            'param',
            'status',
            'type',
          ])
          expect(failure.status).toBe(status)
          expect(failure.message).not.toBe('')
          for (const text of [failure.type, failure.code ?? '', failure.param ?? '']) {
            expect(text).toBeTypeOf('string')
          }
        },
      ),
      numberOfRuns(100),
    )
  })
})
