/** What the services of this world make of a stream of chunks, and what it means. */
import { describe, expect, test } from 'vitest'
import { openaiChat } from '../../../../src/providers/openai-chat/openai-chat.ts'
import {
  accountOf,
  assistant,
  chunk,
  DONE,
  failureIn,
  finish,
  heard,
  itemsIn,
  receive,
  USAGE,
} from '../kit.ts'

test('text comes as the deltas that it came in', () => {
  const events = receive([
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

test('an answer without a word has no items, and is no failure', () => {
  const events = receive([chunk({ role: 'assistant', content: '' }), finish('length'), DONE])
  expect(events.map(({ type }) => type)).toEqual(['answer-started', 'answer-ended'])
})

test('nulls, comments, empty choices and strangers say nothing', () => {
  expect(
    heard(
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

test('only the first choice is the answer, in whatever order they come', () => {
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
  expect(heard(other('x'), both, other('y'), chunk({ content: 'b' }))).toEqual([assistant('ab')])
})

describe('the end', () => {
  test('usage is taken wherever it stands, the last of several', () => {
    const usageOf = (...chunks: Parameters<typeof receive>[0]) => {
      const last = receive(chunks).at(-1)
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

  test('details of usage are null where nobody said them, and 0 where that was said (C44)', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 14,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 2 },
    }
    expect(receive([finish('stop', { usage }), DONE]).at(-1)).toMatchObject({
      usage: { cachedTokens: 0, cacheWriteTokens: 3, reasoningTokens: 2 },
    })
    const deepseek = { prompt_tokens: 10, completion_tokens: 4, prompt_cache_hit_tokens: 8 }
    expect(receive([finish('stop', { usage: deepseek }), DONE]).at(-1)).toMatchObject({
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
  ])('the reason %s means %s', (reason, meaning) => {
    expect(receive([finish(reason), DONE]).at(-1)).toMatchObject({ finish: meaning })
  })

  test('a body that is over behind a reason to finish needs no mark', () => {
    expect(receive([chunk({ content: 'a' }), finish('length')]).at(-1)).toMatchObject({
      finish: 'length',
    })
  })

  test('the mark alone is enough, where nobody ever gives a reason', () => {
    expect(receive([chunk({ content: 'a' }), DONE]).at(-1)).toMatchObject({ finish: 'stop' })
  })

  test('so is usage alone behind the words', () => {
    const events = receive([chunk({ content: 'a' }), { choices: [], usage: USAGE }])
    expect(events.at(-1)?.type).toBe('answer-ended')
  })

  test('without any of these the upstream broke off, and what it said is kept as incomplete', () => {
    const events = receive([chunk({ content: 'Hel' })])
    expect(failureIn(events)).toMatchObject({ status: 502, code: 'upstream_broken' })
    expect(itemsIn(events)).toEqual([{ ...assistant('Hel'), status: 'incomplete' }])
  })

  test('a stream without a chunk is no answer', () => {
    expect(failureIn(receive([]))).toMatchObject({ code: 'upstream_broken' })
    expect(failureIn(receive([DONE]))).toMatchObject({ code: 'upstream_broken' })
  })

  test('after the terminal event nothing comes', () => {
    const decoder = openaiChat.createDecoder(accountOf())
    const push = (data: unknown) => decoder.push({ data: JSON.stringify(data) })
    push(chunk({ content: 'a' }))
    expect(decoder.push({ data: DONE }).at(-1)?.type).toBe('answer-ended')
    expect(push(chunk({ content: 'b' }))).toEqual([])
    expect(decoder.push({ data: DONE })).toEqual([])
    expect(decoder.end()).toEqual([])
  })
})

describe('failures', () => {
  test('an error next to choices counts, with its number as status', () => {
    const events = receive([
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

  test('an error may be a word, or stand bare', () => {
    expect(failureIn(receive([{ error: 'no GPU left' }]))).toMatchObject({
      status: 502,
      message: 'no GPU left',
    })
    const bare = { object: 'error', message: 'too long', type: 'BadRequestError', code: 400 }
    expect(failureIn(receive([bare]))).toMatchObject({
      status: 400,
      type: 'BadRequestError',
      code: null,
      message: 'too long',
    })
  })

  test('broken JSON is said to be that, without a word of it', () => {
    const events = receive([chunk({ content: 'a' }), '{"choices":[{"del'])
    expect(failureIn(events)?.message).toBe('The upstream sent a chunk that is not JSON.')
  })

  test('an event of name error may be plain text', () => {
    const decoder = openaiChat.createDecoder(accountOf())
    const events = decoder.push({ event: 'error', data: 'overloaded' })
    expect(failureIn(events)).toMatchObject({ message: 'overloaded' })
  })

  test('a service that says it did not get to the end is believed', () => {
    const events = receive([chunk({ content: 'a' }), finish('insufficient_system_resource'), DONE])
    expect(failureIn(events)).toMatchObject({ code: 'upstream_broken' })
  })
})

describe('what goes with the text', () => {
  test('refusals are a part of their own', () => {
    expect(heard(chunk({ refusal: 'I ' }), chunk({ refusal: 'will not' }))).toEqual([
      assistant({ type: 'refusal', refusal: 'I will not' }),
    ])
  })

  test('log probabilities stay with their text', () => {
    const token = { token: 'a', logprob: -0.1, bytes: [97], top_logprobs: [] }
    const events = receive([
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

  test('citations wait for the text that they are about, and lose their nesting', () => {
    const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }]
    const flat = { type: 'url_citation', url: 'https://a.example' }
    const cited = assistant({ type: 'output_text', text: 'a', annotations: [flat] })
    expect(heard(chunk({ annotations, content: '' }), chunk({ content: 'a' }))).toEqual([cited])
    expect(heard(chunk({ content: 'a' }), chunk({ annotations }))).toEqual([cited])
  })

  test('images are carried', () => {
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }
    expect(heard(chunk({ content: 'see' }), chunk({ images: [picture] }))).toEqual([
      assistant('see', { type: 'opaque', raw: picture }),
    ])
  })

  test('what was said aloud is read', () => {
    const spoken = [{ id: 'a1' }, { transcript: 'Hel' }, { data: 'UklG' }, { transcript: 'lo' }]
    expect(heard(...spoken.map((audio) => chunk({ audio })))).toEqual([assistant('Hello')])
  })
})

describe('an answer that was not streamed', () => {
  const told = (body: Parameters<typeof openaiChat.decodeBody>[0]) =>
    openaiChat.decodeBody(body, accountOf())

  test('says the same as its stream', () => {
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
    expect(told(body)).toEqual(receive([...chunks, DONE]))
  })

  test('fails with its error, or without a choice', () => {
    expect(failureIn(told({ error: { message: 'no', code: 'bad' } }))).toMatchObject({
      message: 'no',
      code: 'bad',
    })
    for (const body of [{}, { choices: [] }, { choices: 'x' }, { choices: [3], usage: USAGE }]) {
      expect(failureIn(told(body))).toMatchObject({ code: 'upstream_broken' })
    }
  })
})
