/** Recorded answers of many services decode into valid events with the text that a naive reader finds. */
import { describe, expect, test } from 'vitest'
import { textOf, type Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import { createSseDecoder, type SseMessage } from '../../../src/core/stream/sse.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'
import { findEventFaults } from '../../support/event-laws.ts'
import { readShared, sharedExists } from '../../support/shared-files.ts'
import { accountOf, itemsIn } from './kit.ts'

const COMPLETE_STREAMS = [
  'openai-chat/finish-length-no-content.sse',
  'openai-chat/finish-length.sse',
  'openai-chat/logprobs.sse',
  'openai-chat/parallel-tool-calls.sse',
  'openai-chat/refusal.sse',
  'openai-chat/text-usage.sse',
  'openai-chat/three-choices.sse',
  'openai-chat/tool-call-finish-stop.sse',
  'openai-chat/tool-call.sse',
  'chat-compatible/azure-prompt-filter-first-chunk.jsonl',
  'chat-compatible/bedrock-gpt-oss-tool-call.jsonl',
  'chat-compatible/deepseek-reasoning-tool-call.jsonl',
  'chat-compatible/groq-reasoning-tool-call.sse',
  'chat-compatible/mistral-thinking-parts.sse',
  'chat-compatible/mistral-tool-call-no-index.jsonl',
  'chat-compatible/ollama-reasoning.jsonl',
  'chat-compatible/ollama-tool-call.jsonl',
  'chat-compatible/qwen-tool-call.jsonl',
  'chat-compatible/vllm-reasoning-both-fields.jsonl',
  'chat-compatible/vllm-think-tags-tool-call.jsonl',
  'chat-compatible/watsonx-tool-call.jsonl',
  'chat-compatible/zai-reasoning.sse',
  'openrouter/claude-reasoning-details.sse',
  'openrouter/kimi-tool-call-no-finish.sse',
  'openrouter/o3-reasoning-encrypted.sse',
  'openrouter/text-comments.sse',
  'openrouter/web-search-annotations.sse',
]
const FAILED_STREAMS = [
  'chat-compatible/groq-error-mid-stream.sse',
  'openrouter/error-mid-stream.sse',
]
const BODIES = [
  'openai-chat/tool-call.json',
  'openai-chat/prompt-cache-usage.json',
  'chat-compatible/gemini-tool-call-empty-id.json',
]

describe.skipIf(!sharedExists)('decoding of recorded Chat Completions answers', () => {
  test.each(COMPLETE_STREAMS)(
    'the recorded chat stream %s is decoded without a failure and with all of its text',
    (file) => {
      const messages = readMessages(file)
      const events = decodeMessages(messages)
      expect(findEventFaults(events)).toEqual([])
      expect(events.at(-1)?.type).toBe('answer-ended')
      expect(collectText(itemsIn(events))).toEqual(collectTextNaively(messages))
    },
  )

  test.each(FAILED_STREAMS)(
    'the recorded chat stream %s fails with the status of its error',
    (file) => {
      const events = decodeMessages(readMessages(file))
      expect(findEventFaults(events)).toEqual([])
      expect(events.at(-1)).toMatchObject({ type: 'answer-failed', failure: { status: 400 } })
    },
  )

  test.each(BODIES)(
    'the recorded non-streamed chat answer %s is decoded without a failure',
    (file) => {
      const body = readJson(file)
      const events = openaiChat.decodeBody(body, accountOf())
      expect(findEventFaults(events)).toEqual([])
      expect(events.at(-1)?.type).toBe('answer-ended')
    },
  )

  test('usage is read from any chunk of a recorded chat stream', () => {
    const without = COMPLETE_STREAMS.filter((file) => {
      const last = decodeMessages(readMessages(file)).at(-1)
      return last?.type === 'answer-ended' && last.usage === null
    })
    // This one contains no usage.
    expect(without).toEqual(['chat-compatible/vllm-think-tags-tool-call.jsonl'])
  })

  test('a signature in a recorded chat stream is stored with the block of text that it signs', () => {
    const [reasoning] = itemsIn(
      decodeMessages(readMessages('openrouter/claude-reasoning-details.sse')),
    )
    const details = reasoning?.native?.['chat']?.['reasoning_details'] as readonly JsonObject[]
    expect(details).toHaveLength(1)
    expect(details[0]).toMatchObject({
      type: 'reasoning.text',
      text: 'This is a simple arithmetic question. 2+2 equals 4.',
      format: 'anthropic-claude-v1',
      index: 0,
    })
    expect(String(details[0]?.['signature'])).toHaveLength(304)
  })

  test('citations in a recorded chat stream become annotations of the text after them', () => {
    const [message] = itemsIn(decodeMessages(readMessages('openrouter/web-search-annotations.sse')))
    const [part] = message?.type === 'message' ? message.content : []
    expect(part?.type === 'output_text' ? part.annotations?.length : 0).toBe(5)
  })

  test('the position of chunk borders in a recorded chat stream makes no difference', () => {
    const bytes = readShared(`fixtures/streams/openrouter/kimi-tool-call-no-finish.sse`)
    const expected = decodeMessages(readMessages('openrouter/kimi-tool-call-no-finish.sse'))
    for (const size of [1, 7, 64, 1000]) {
      const cuts: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) cuts.push(bytes.subarray(at, at + size))
      expect(decodeMessages(runStage(createSseDecoder(), cuts))).toEqual(expected)
    }
  })
})

function readMessages(file: string): readonly SseMessage[] {
  const bytes = readShared(`fixtures/streams/${file}`)
  if (file.endsWith('.sse')) return runStage(createSseDecoder(), [bytes])
  const lines = bytes.toString('utf8').split('\n')
  return lines.filter((line) => line.trim() !== '').map((data) => ({ data }))
}

function readJson(file: string): JsonObject {
  return JSON.parse(readShared(`fixtures/streams/${file}`).toString('utf8')) as JsonObject
}

function decodeMessages(messages: readonly SseMessage[]): readonly StreamEvent[] {
  return runStage(openaiChat.createDecoder(accountOf()), messages)
}

interface AnswerText {
  text: string
  reasoning: string
  refusal: string
  calls: string
}

function collectText(items: readonly Item[]): AnswerText {
  const words: AnswerText = { text: '', reasoning: '', refusal: '', calls: '' }
  for (const item of items) {
    if (item.type === 'message') {
      const refusals = item.content.filter((part) => part.type === 'refusal')
      words.refusal += textOf(refusals)
      words.text += textOf(item.content.filter((part) => part.type !== 'refusal'))
    } else if (item.type === 'reasoning') {
      words.reasoning += [...item.summary, ...(item.content ?? [])].map(({ text }) => text).join('')
    } else if (item.type === 'function_call') words.calls += `${item.name}(${item.arguments})`
  }
  return words
}

interface NaiveDelta {
  readonly content?: string | null | readonly { text?: string; thinking?: { text: string }[] }[]
  readonly refusal?: string | null
  readonly reasoning?: string | null
  readonly reasoning_content?: string | null
  readonly tool_calls?:
    | readonly { index?: number; function: { name?: string | null; arguments?: string | null } }[]
    | null
}

/** Concatenates each field of choice 0 separately, ignoring their order. */
function collectTextNaively(messages: readonly SseMessage[]): AnswerText {
  const words: AnswerText = { text: '', reasoning: '', refusal: '', calls: '' }
  const calls: { name: string; text: string }[] = []
  for (const { data } of messages) {
    if (data === '[DONE]') continue
    const { choices } = JSON.parse(data) as {
      choices: readonly { index: number; delta?: NaiveDelta }[]
    }
    const { delta } = choices.find(({ index }) => index === 0) ?? {}
    if (typeof delta?.content === 'string') words.text += delta.content
    else {
      for (const part of delta?.content ?? []) {
        words.text += part.text ?? ''
        words.reasoning += (part.thinking ?? []).map(({ text }) => text).join('')
      }
    }
    words.reasoning += delta?.reasoning ?? delta?.reasoning_content ?? ''
    words.refusal += delta?.refusal ?? ''
    for (const { index = 0, function: made } of delta?.tool_calls ?? []) {
      const call = (calls[index] ??= { name: '', text: '' })
      if (made.name) call.name = made.name
      call.text += made.arguments ?? ''
    }
  }
  words.calls = calls.map(({ name, text }) => `${name}(${text})`).join('')
  return words
}
