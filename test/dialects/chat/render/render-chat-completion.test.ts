import { expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import { chatDialect } from '../../../../src/dialects/chat/chat-dialect.ts'
import {
  createAnswerContext,
  call,
  renderChunks,
  ENDED,
  foldOutcome,
  assistant,
  STARTED,
  reasoning,
  answer,
  TURN,
} from '../kit.ts'

function renderCompletion(...items: readonly Item[]) {
  return chatDialect.renderBody(foldOutcome(answer(...items)), createAnswerContext())
}

test('a chat completion contains the reasoning, the texts, the tool calls and the usage of the answer', () => {
  const custom: Item = { type: 'custom_tool_call', call_id: 'c', name: 'sh', input: 'ls' }
  const details = [{ type: 'reasoning.encrypted', data: 'x' }]
  const thought: Item = {
    ...reasoning('Hm'),
    native: { chat: { reasoning_details: details } },
  }
  expect(
    renderCompletion(thought, assistant('Wait.'), assistant('So.'), call('a', 'f', '{}'), custom),
  ).toEqual({
    id: `chatcmpl-${TURN}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'made-by',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Wait.\n\nSo.',
          refusal: null,
          reasoning_content: 'Hm',
          reasoning_details: details,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c', type: 'custom', custom: { name: 'sh', input: 'ls' } },
          ],
          annotations: [],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage: {
      prompt_tokens: 5,
      completion_tokens: 2,
      total_tokens: 7,
      prompt_tokens_details: { cached_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 1 },
    },
  })
})

test('the content of a chat completion without text is null if it has tool calls or a refusal, and otherwise an empty text', () => {
  const message = (...items: readonly Item[]) => {
    const { choices } = renderCompletion(...items) as { choices: { message: object }[] }
    return choices[0]?.message
  }
  expect(message(call('a'))).toMatchObject({ content: null })
  expect(message()).toMatchObject({ content: '', refusal: null })
  const refused: Item = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'refusal', refusal: 'No.' }],
  }
  expect(message(refused)).toMatchObject({ content: null, refusal: 'No.' })
})

test('a chat completion contains the citations, log probabilities and images of the answer', () => {
  const token = { token: 'a', logprob: -0.1 }
  const item: Item = {
    type: 'message',
    role: 'assistant',
    content: [
      {
        type: 'output_text',
        text: 'a',
        logprobs: [token],
        annotations: [
          { type: 'url_citation', url: 'https://a.example' },
          { type: 'file_citation' },
        ],
      },
      { type: 'input_image', image_url: 'data:x' },
    ],
  }
  expect(renderCompletion(item)).toMatchObject({
    choices: [
      {
        message: {
          annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }],
          images: [{ type: 'image_url', image_url: { url: 'data:x' } }],
        },
        logprobs: { content: [token] },
      },
    ],
  })
})

test('a chat completion contains the same texts as the chat stream of the same answer', () => {
  const events = [
    STARTED,
    ...answer(
      reasoning('one', 'two'),
      assistant('a'),
      assistant('b', 'c'),
      call('x', 'f', '{}'),
    ).slice(1, -1),
    ENDED,
  ]
  const streamed = renderChunks(events).flatMap(({ choices }) => choices.map(({ delta }) => delta))
  const sum = (field: string) => streamed.map((delta) => delta[field] ?? '').join('')
  expect(chatDialect.renderBody(foldOutcome(events), createAnswerContext())).toMatchObject({
    choices: [
      { message: { content: sum('content'), reasoning_content: sum('reasoning_content') } },
    ],
  })
})
