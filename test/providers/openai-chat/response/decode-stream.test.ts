/** Decodes the streams and bodies of services that deviate from the documented format. */
import { describe, expect, test } from 'vitest'
import { openaiChat } from '../../../../src/providers/openai-chat/openai-chat.ts'
import {
  accountOf,
  assistant,
  chunk,
  DONE,
  getFailure,
  finish,
  decode,
  itemsIn,
  decodeChunks,
  USAGE,
} from '../kit.ts'

test('the text deltas of a chat stream are emitted one by one', () => {
  const events = decodeChunks([
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hel' }),
    chunk({ content: 'lo' }),
    finish(),
    { ...chunk({}), choices: [], usage: USAGE },
    DONE,
  ])
  expect(events).toEqual([
    { type: 'answer-started', upstreamId: 'up-1', model: 'm-1' },
    { type: 'item-started', index: 0, item: assistant() },
    { type: 'text-delta', index: 0, part: 0, text: 'Hel' },
    { type: 'text-delta', index: 0, part: 0, text: 'lo' },
    { type: 'item-ended', index: 0, item: assistant('Hello') },
    {
      type: 'answer-ended',
      finish: 'stop',
      usage: {
        inputTokens: 5,
        cachedTokens: null,
        cacheWriteTokens: null,
        outputTokens: 2,
        reasoningTokens: null,
        totalTokens: 7,
      },
    },
  ])
})

test('a chat answer without text has no items and is not a failure', () => {
  const events = decodeChunks([chunk({ role: 'assistant', content: '' }), finish('length'), DONE])
  expect(events.map(({ type }) => type)).toEqual(['answer-started', 'answer-ended'])
})

test('nulls, comments, empty choices and unknown fields in a chat stream are ignored', () => {
  expect(
    decode(
      { ...chunk({}), choices: [], id: '', model: '', prompt_filter_results: [] },
      { id: 'up-1', choices: [{ index: 0, delta: null }] },
      { id: 'up-1', choices: [{ index: 0 }] },
      { id: 'up-1', choices: null },
      { id: 'up-1', choices: ['x', null, 3] },
      chunk({ role: null, content: null, tool_calls: null, function_call: null, refusal: null }),
      chunk({ content: 'hi', channel: 'final', token_id: 7 }),
      'null',
      '[]',
      '3',
      '',
    ),
  ).toEqual([assistant('hi')])
})

test('the chat decoder reads only the choice with index 0, in any order of choices', () => {
  const other = (text: string) => ({
    id: 'up-1',
    choices: [{ index: 1, delta: { content: text }, finish_reason: 'length' }],
  })
  const both = {
    id: 'up-1',
    choices: [
      { index: 1, delta: { content: 'no' } },
      { index: 0, delta: { content: 'a' } },
    ],
  }
  expect(decode(other('x'), both, other('y'), chunk({ content: 'b' }))).toEqual([assistant('ab')])
})

describe('the end of a chat answer', () => {
  test('the usage of a chat answer is the last usage in any chunk', () => {
    const usageOf = (...chunks: Parameters<typeof decodeChunks>[0]) => {
      const last = decodeChunks(chunks).at(-1)
      return last?.type === 'answer-ended' ? last.usage?.totalTokens : null
    }
    const text = chunk({ content: 'a' })
    expect(usageOf(text, finish('stop', { usage: USAGE }), DONE)).toBe(7)
    expect(usageOf({ ...text, usage: USAGE }, { ...finish(), usage: null }, DONE)).toBe(7)
    expect(usageOf(text, finish(), { choices: [], usage: USAGE }, DONE)).toBe(7)
    expect(usageOf(text, finish('stop', { x_groq: { usage: USAGE } }), DONE)).toBe(7)
    const cumulative = { ...USAGE, total_tokens: 9 }
    expect(usageOf({ ...text, usage: USAGE }, finish('stop', { usage: cumulative }), DONE)).toBe(9)
  })

  test('the usage of a chat answer has null for missing details and 0 for those sent as 0 (C44)', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 14,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 2 },
    }
    expect(decodeChunks([finish('stop', { usage }), DONE]).at(-1)).toMatchObject({
      usage: { cachedTokens: 0, cacheWriteTokens: 3, reasoningTokens: 2 },
    })
    const deepseek = { prompt_tokens: 10, completion_tokens: 4, prompt_cache_hit_tokens: 8 }
    expect(decodeChunks([finish('stop', { usage: deepseek }), DONE]).at(-1)).toMatchObject({
      usage: { cachedTokens: 8, reasoningTokens: null, totalTokens: 14 },
    })
  })

  test.each([
    ['stop', 'stop'],
    ['tool_calls', 'stop'],
    ['function_call', 'stop'],
    ['eos', 'stop'],
    ['length', 'length'],
    ['model_length', 'length'],
    ['content_filter', 'content-filter'],
  ])('the finish reason %s of a chat service is decoded as %s', (reason, meaning) => {
    expect(decodeChunks([finish(reason), DONE]).at(-1)).toMatchObject({ finish: meaning })
  })

  test('a chat answer with a finish reason is complete without [DONE]', () => {
    expect(decodeChunks([chunk({ content: 'a' }), finish('length')]).at(-1)).toMatchObject({
      finish: 'length',
    })
  })

  test('a chat answer with [DONE] is complete without a finish reason', () => {
    expect(decodeChunks([chunk({ content: 'a' }), DONE]).at(-1)).toMatchObject({ finish: 'stop' })
  })

  test('a chat answer whose last chunk has usage is complete without a finish reason and [DONE]', () => {
    const events = decodeChunks([chunk({ content: 'a' }), { choices: [], usage: USAGE }])
    expect(events.at(-1)?.type).toBe('answer-ended')
  })

  test('a chat answer without a finish reason, usage and [DONE] is a failure that keeps its text as incomplete', () => {
    const events = decodeChunks([chunk({ content: 'Hel' })])
    expect(getFailure(events)).toMatchObject({ status: 502, code: 'upstream_broken' })
    expect(itemsIn(events)).toEqual([{ ...assistant('Hel'), status: 'incomplete' }])
  })

  test('a chat stream without chunks is a failure', () => {
    expect(getFailure(decodeChunks([]))).toMatchObject({ code: 'upstream_broken' })
    expect(getFailure(decodeChunks([DONE]))).toMatchObject({ code: 'upstream_broken' })
  })

  test('the chat decoder emits no event after the terminal event', () => {
    const decoder = openaiChat.createDecoder(accountOf())
    const push = (data: unknown) => decoder.push({ data: JSON.stringify(data) })
    push(chunk({ content: 'a' }))
    expect(decoder.push({ data: DONE }).at(-1)?.type).toBe('answer-ended')
    expect(push(chunk({ content: 'b' }))).toEqual([])
    expect(decoder.push({ data: DONE })).toEqual([])
    expect(decoder.end()).toEqual([])
  })
})

describe('failures in a chat stream', () => {
  test('an error beside choices in a chat stream is a failure with the numeric code as its status', () => {
    const events = decodeChunks([
      chunk({ content: 'a' }),
      finish('length'),
      { ...finish(), error: { code: 429, message: 'Slow down' }, usage: USAGE },
      DONE,
    ])
    expect(events.at(-1)).toMatchObject({
      type: 'answer-failed',
      failure: { status: 429, code: 'rate_limit_exceeded', message: 'Slow down', param: null },
      usage: { totalTokens: 7 },
    })
  })

  test('an error in a chat stream may be a string or the chunk itself', () => {
    expect(getFailure(decodeChunks([{ error: 'no GPU left' }]))).toMatchObject({
      status: 502,
      message: 'no GPU left',
    })
    const bare = { object: 'error', message: 'too long', type: 'BadRequestError', code: 400 }
    expect(getFailure(decodeChunks([bare]))).toMatchObject({
      status: 400,
      type: 'BadRequestError',
      code: null,
      message: 'too long',
    })
  })

  test('the failure for invalid JSON in a chat stream does not quote the JSON', () => {
    const events = decodeChunks([chunk({ content: 'a' }), '{"choices":[{"del'])
    expect(getFailure(events)?.message).toBe('The upstream sent a chunk that is not JSON.')
  })

  test('an `error` event with plain text in a chat stream is a failure', () => {
    const decoder = openaiChat.createDecoder(accountOf())
    const events = decoder.push({ event: 'error', data: 'overloaded' })
    expect(getFailure(events)).toMatchObject({ message: 'overloaded' })
  })

  test('a finish reason such as `error` in a chat stream is a failure', () => {
    const events = decodeChunks([
      chunk({ content: 'a' }),
      finish('insufficient_system_resource'),
      DONE,
    ])
    expect(getFailure(events)).toMatchObject({ code: 'upstream_broken' })
  })
})

describe('refusals, citations, images and other fields in a chat stream', () => {
  test('a refusal in a chat stream becomes a message part of its own', () => {
    expect(decode(chunk({ refusal: 'I ' }), chunk({ refusal: 'will not' }))).toEqual([
      assistant({ type: 'refusal', refusal: 'I will not' }),
    ])
  })

  test('log probabilities in a chat stream are stored with their text', () => {
    const token = { token: 'a', logprob: -0.1, bytes: [97], top_logprobs: [] }
    const events = decodeChunks([
      chunk({ content: 'a' }, { logprobs: { content: [token], refusal: null } }),
      chunk({ content: 'b' }, { logprobs: { content: [] } }),
      finish(),
      DONE,
    ])
    expect(events[2]).toMatchObject({ text: 'a', logprobs: [token] })
    expect(itemsIn(events)).toEqual([
      assistant({ type: 'output_text', text: 'ab', logprobs: [token] }),
    ])
  })

  test('citations before the text in a chat stream become annotations of that text', () => {
    const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }]
    const flat = { type: 'url_citation', url: 'https://a.example' }
    const cited = assistant({ type: 'output_text', text: 'a', annotations: [flat] })
    expect(decode(chunk({ annotations, content: '' }), chunk({ content: 'a' }))).toEqual([cited])
    expect(decode(chunk({ content: 'a' }), chunk({ annotations }))).toEqual([cited])
  })

  test('images in a chat stream become opaque message parts', () => {
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }
    expect(decode(chunk({ content: 'see' }), chunk({ images: [picture] }))).toEqual([
      assistant('see', { type: 'opaque', raw: picture }),
    ])
  })

  test('the transcript of spoken audio in a chat stream becomes text', () => {
    const spoken = [{ id: 'a1' }, { transcript: 'Hel' }, { data: 'UklG' }, { transcript: 'lo' }]
    expect(decode(...spoken.map((audio) => chunk({ audio })))).toEqual([assistant('Hello')])
  })
})

describe('non-streamed Chat Completions answers', () => {
  const decodeBody = (body: Parameters<typeof openaiChat.decodeBody>[0]) =>
    openaiChat.decodeBody(body, accountOf())

  test('a non-streamed chat answer gives the same items as its stream', () => {
    const message = { role: 'assistant', content: 'a', reasoning_content: 'Hm', refusal: null }
    const body = {
      id: 'up-1',
      model: 'm-1',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: USAGE,
    }
    const chunks = [
      chunk({ reasoning_content: 'Hm', content: 'a' }),
      finish('stop', { usage: USAGE }),
    ]
    expect(decodeBody(body)).toEqual(decodeChunks([...chunks, DONE]))
  })

  test('a non-streamed chat answer with an error or without a choice is a failure', () => {
    expect(getFailure(decodeBody({ error: { message: 'no', code: 'bad' } }))).toMatchObject({
      message: 'no',
      code: 'bad',
    })
    for (const body of [{}, { choices: [] }, { choices: 'x' }, { choices: [3], usage: USAGE }]) {
      expect(getFailure(decodeBody(body))).toMatchObject({ code: 'upstream_broken' })
    }
  })
})
