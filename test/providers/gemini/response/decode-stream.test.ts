import { describe, expect, test } from 'vitest'
import { gemini } from '../../../../src/providers/gemini/gemini.ts'
import { ACCOUNT, chunk, itemsOf, lastChunk, promptOf, decode } from '../kit.ts'

test('text in several chunks of a Gemini stream becomes one message', () => {
  expect(decode([chunk({ text: 'Hel' }), chunk({ text: 'lo.' }), lastChunk()])).toEqual([
    { type: 'answer-started', upstreamId: 'answer1', model: 'gemini-3.8-flash' },
    {
      type: 'item-started',
      index: 0,
      item: { type: 'message', role: 'assistant', content: [] },
    },
    { type: 'text-delta', index: 0, part: 0, text: 'Hel' },
    { type: 'text-delta', index: 0, part: 0, text: 'lo.' },
    {
      type: 'item-ended',
      index: 0,
      item: {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello.' }],
      },
    },
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

test('a Gemini thought becomes a reasoning item with the signature of the call after it', () => {
  const events = decode([
    chunk({ text: 'I need ', thought: true }),
    chunk(
      { text: 'the weather.', thought: true },
      { functionCall: { name: 'weather', args: { at: 'Rome' }, id: 'x7' }, thoughtSignature: 'S1' },
    ),
    lastChunk(),
  ])
  expect(itemsOf(events)).toEqual([
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'I need the weather.' }],
      encrypted_content: 'gemini:1:gemini-3.8-flash:S1',
      native: { gemini: {} },
    },
    {
      type: 'function_call',
      call_id: 'x7',
      name: 'weather',
      arguments: '{"at":"Rome"}',
      native: { gemini: { id: 'x7', thoughtSignature: 'S1' } },
    },
  ])
})

test('the first of parallel Gemini calls gets a reasoning item with its signature if no thought precedes it', () => {
  const events = decode([
    chunk(
      { functionCall: { name: 'look', args: {} }, thoughtSignature: 'S1' },
      { functionCall: { name: 'look', args: { at: 1 } } },
    ),
    chunk({ functionCall: { name: 'look' } }),
    lastChunk(),
  ])
  expect(
    itemsOf(events).map((item) => [item.type, 'call_id' in item ? item.call_id : null]),
  ).toEqual([
    ['reasoning', null],
    ['function_call', 'call_answer1_0'],
    ['function_call', 'call_answer1_1'],
    ['function_call', 'call_answer1_2'],
  ])
})

test('generated ids of Gemini calls differ between answers and are equal if an answer is decoded again', () => {
  const decodeIds = (responseId: string | null) =>
    itemsOf(
      decode([
        {
          ...chunk({ functionCall: { name: 'look' } }, { functionCall: { name: 'look' } }),
          responseId,
        },
        lastChunk(),
      ]),
    ).map((item) => (item.type === 'function_call' ? item.call_id : ''))
  expect(decodeIds('one')).toEqual(decodeIds('one'))
  expect(new Set([...decodeIds('one'), ...decodeIds('two'), ...decodeIds(null)]).size).toBe(6)
})

test('a call id that Gemini repeats is used only for the first call', () => {
  const twice = { functionCall: { name: 'look', id: 'same' } }
  const calls = itemsOf(decode([chunk(twice, twice), lastChunk()]))
  expect(calls).toMatchObject([{ call_id: 'same' }, { call_id: 'call_answer1_1' }])
  expect(calls[1]?.native).toEqual({ gemini: { id: 'same' } })
})

test('a late Gemini signature is stored with the text or the calls before it', () => {
  const lateSignature = { text: '', thoughtSignature: 'LATE' }
  const [text] = itemsOf(decode([chunk({ text: '4' }), chunk(lateSignature), lastChunk()]))
  expect(text?.native).toEqual({
    gemini: { signatures: [{ start: 1, end: 1, thoughtSignature: 'LATE' }], chars: 1 },
  })
  const look = { functionCall: { name: 'look' } }
  const batch = itemsOf(decode([chunk(look, look), chunk(lateSignature), lastChunk()]))
  expect(batch.map((item) => item.native)).toEqual([
    { gemini: { thoughtSignature: 'LATE' } },
    { gemini: {} },
  ])
  const signed = itemsOf(
    decode([chunk({ ...look, thoughtSignature: 'S' }, lateSignature), lastChunk()]),
  )
  expect(signed[1]?.native).toEqual({ gemini: { thoughtSignature: 'S', after: ['LATE'] } })
  const thought = itemsOf(
    decode([chunk({ text: 'hm', thought: true }, lateSignature), lastChunk()]),
  )
  expect(thought[0]?.native).toEqual({ gemini: { after: ['LATE'] } })
})

test('the position of a signed span in a Gemini text is stored', () => {
  const [item] = itemsOf(
    decode([
      chunk({ text: 'This is', thoughtSignature: 'S' }),
      chunk({ text: ' an answer' }),
      lastChunk(),
    ]),
  )
  expect(item).toMatchObject({
    content: [{ text: 'This is an answer' }],
    native: { gemini: { signatures: [{ start: 0, end: 7, thoughtSignature: 'S' }], chars: 17 } },
  })
})

test('parts of several kinds in one Gemini chunk become items in the same order', () => {
  const events = decode([
    chunk(
      { text: 'Thinking.', thought: true },
      { text: 'Here:' },
      { inlineData: { mimeType: 'image/jpeg', data: 'AAAA' }, thoughtSignature: 'S' },
      { text: 'Done.' },
      { executableCode: { language: 'PYTHON', code: '1' } },
    ),
    lastChunk(),
  ])
  expect(itemsOf(events)).toMatchObject([
    { type: 'reasoning' },
    { type: 'message', content: [{ text: 'Here:' }] },
    {
      type: 'opaque',
      raw: { type: 'image_generation_call', result: 'AAAA', output_format: 'jpeg' },
      native: { gemini: { mimeType: 'image/jpeg', thoughtSignature: 'S' } },
    },
    { type: 'message', content: [{ text: 'Done.' }] },
    {
      type: 'opaque',
      raw: { type: 'gemini:part', part: { executableCode: { language: 'PYTHON', code: '1' } } },
    },
  ])
})

test('Gemini calls of custom and renamed tools get the client’s tool names and formats', () => {
  const prompt = promptOf([], {
    tools: [
      { type: 'custom', name: 'grep', description: null, format: null },
      { type: 'function', name: '2nd', description: null, parameters: null, strict: false },
    ],
  })
  const { body } = gemini.encode(prompt, ACCOUNT)
  const wireName = /"name":"(_2nd[^"]*)"/.exec(JSON.stringify(body))?.[1]
  const events = decode(
    [
      chunk(
        { functionCall: { name: 'grep', args: { input: 'a b' } } },
        { functionCall: { name: wireName ?? '', args: {} } },
      ),
      lastChunk(),
    ],
    prompt,
  )
  expect(itemsOf(events)).toMatchObject([
    { type: 'custom_tool_call', name: 'grep', input: 'a b' },
    { type: 'function_call', name: '2nd', arguments: '{}' },
  ])
})

test("Gemini's sources become citations with positions in UTF-16 units", () => {
  const text = 'Größe 69 °F. 🙂 Sonne.'
  const start = new TextEncoder().encode('Größe 69 °F. 🙂 ').length
  const grounding = {
    groundingChunks: [{ web: { uri: 'https://a.example/', title: 'A' } }, { maps: {} }],
    groundingSupports: [
      { segment: { startIndex: start, endIndex: start + 6 }, groundingChunkIndices: [0, 1, 7] },
      { segment: { startIndex: 0, endIndex: 9999 }, groundingChunkIndices: [0] },
      { segment: { endIndex: 5, text: 'Other' }, groundingChunkIndices: [0] },
      { segment: 3, groundingChunkIndices: 3 },
    ],
  }
  const events = decode([
    {
      ...lastChunk(),
      candidates: [
        { content: { parts: [{ text }] }, finishReason: 'STOP', groundingMetadata: grounding },
      ],
    },
  ])
  const annotation = {
    type: 'url_citation',
    start_index: text.indexOf('Sonne'),
    end_index: text.length,
    url: 'https://a.example/',
    title: 'A',
  }
  expect(events).toContainEqual({ type: 'annotation-added', index: 0, part: 0, annotation })
  expect(itemsOf(events)[0]).toMatchObject({ content: [{ annotations: [annotation] }] })
})

test("Gemini's log probabilities are emitted with the text of their chunk", () => {
  const candidate = {
    content: { parts: [{ text: 'A' }] },
    logprobsResult: {
      chosenCandidates: [{ token: 'A', logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'A', logProbability: -0.5 }] }],
    },
  }
  const entry = { token: 'A', logprob: -0.5, bytes: [65] }
  const logprobs = [{ ...entry, top_logprobs: [entry] }]
  const events = decode([{ candidates: [candidate] }, lastChunk()])
  expect(events).toContainEqual({ type: 'text-delta', index: 0, part: 0, text: 'A', logprobs })
  expect(itemsOf(events)[0]).toMatchObject({ content: [{ logprobs }] })
})

describe('the end of a Gemini answer', () => {
  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content-filter'],
    ['RECITATION', 'content-filter'],
    ['BLOCKLIST', 'content-filter'],
    ['PROHIBITED_CONTENT', 'content-filter'],
    ['SPII', 'content-filter'],
    ['IMAGE_SAFETY', 'content-filter'],
  ])("Gemini's finish reason %s is decoded as %s", (reason, finish) => {
    expect(decode([chunk({ text: 'so' }), lastChunk(reason)]).at(-1)).toMatchObject({
      type: 'answer-ended',
      finish,
    })
  })

  test.each(['MALFORMED_FUNCTION_CALL', 'OTHER', 'LANGUAGE', 'A_REASON_OF_NEXT_YEAR'])(
    "Gemini's finish reason %s is a failure that keeps the received text",
    (reason) => {
      const events = decode([chunk({ text: 'so far' }), lastChunk(reason)])
      expect(events.at(-1)).toMatchObject({
        type: 'answer-failed',
        failure: { status: 502, type: 'server_error', code: 'upstream_broken' },
        usage: { totalTokens: 7 },
      })
      expect(JSON.stringify(events.at(-1))).toContain(reason)
      expect(itemsOf(events)).toMatchObject([
        { status: 'incomplete', content: [{ text: 'so far' }] },
      ])
    },
  )

  test('the answer to a blocked Gemini prompt ends with content-filter and has no items', () => {
    const events = decode([
      { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: {}, responseId: 'r' },
    ])
    expect(events).toEqual([
      { type: 'answer-started', upstreamId: 'r', model: null },
      { type: 'answer-ended', finish: 'content-filter', usage: null },
    ])
  })

  test('the last token counts of a Gemini answer apply, even after the finish reason', () => {
    const usage = {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      toolUsePromptTokenCount: 10,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      totalTokenCount: 160,
    }
    const events = decode([
      { ...chunk({ text: 'so' }), usageMetadata: { trafficType: 'ON_DEMAND' } },
      lastChunk(),
      { usageMetadata: usage, responseId: 'answer1' },
    ])
    expect(events.at(-1)).toEqual({
      type: 'answer-ended',
      finish: 'stop',
      usage: {
        inputTokens: 110,
        cachedTokens: 60,
        cacheWriteTokens: null,
        outputTokens: 50,
        reasoningTokens: 30,
        totalTokens: 160,
      },
    })
  })

  test('a Gemini stream that breaks off is a failure', () => {
    for (const chunks of [[], [chunk({ text: 'so' })], [chunk({ functionCall: { name: 'f' } })]]) {
      expect(decode(chunks).at(-1)).toMatchObject({
        type: 'answer-failed',
        failure: { code: 'upstream_broken' },
      })
    }
  })

  test('an error in a Gemini stream, bare or in a list, ends the answer with the upstream’s message', () => {
    const error = {
      error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
    }
    for (const data of [error, [error]]) {
      const events = decode([chunk({ text: 'so' }), JSON.stringify(data), lastChunk()])
      expect(events.at(-1)).toMatchObject({
        type: 'answer-failed',
        failure: { status: 503, type: 'server_error', message: 'The model is overloaded.' },
      })
    }
  })
})

describe('unexpected data in a Gemini stream', () => {
  test.each([
    'not json',
    '<html></html>',
    'null',
    '3',
    '"text"',
    '{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}',
  ])('a Gemini stream with the chunk %s ends with a failure', (data) => {
    expect(decode([chunk({ text: 'so' }), data, lastChunk()]).at(-1)).toMatchObject({
      type: 'answer-failed',
      failure: { status: 502 },
    })
  })

  test.each([
    '{}',
    '{"candidates":null}',
    '{"candidates":[null,3]}',
    '{"candidates":[{"content":{"parts":[null,{},{"text":null},{"inlineData":3}]}}]}',
    '{"candidates":[{"content":null,"groundingMetadata":{"groundingSupports":[null]}}]}',
    '{"candidates":[{"index":1,"content":{"parts":[{"text":"another candidate"}]}}]}',
    '{"usageMetadata":"many","promptFeedback":null}',
    '[DONE]',
    '',
  ])('a Gemini stream with the unusual chunk %s is decoded without a failure', (data) => {
    expect(decode([chunk({ text: 'so' }), data, lastChunk()]).at(-1)).toMatchObject({
      type: 'answer-ended',
      finish: 'stop',
    })
  })

  test('the Gemini decoder emits no event after the terminal event', () => {
    const decoder = gemini.createDecoder(ACCOUNT)
    expect(decoder.push({ data: 'x' }).at(-1)?.type).toBe('answer-failed')
    expect(decoder.push({ data: 'y' })).toEqual([])
    expect(decoder.push({ data: JSON.stringify(chunk({ text: 'so' })) })).toEqual([])
    expect(decoder.end()).toEqual([])
  })
})

test('a non-streamed Gemini answer gives the same events as a stream of one chunk', () => {
  const parts = [{ text: 'hm', thought: true }, { text: 'Hello.' }]
  const body = {
    candidates: [{ content: { parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1 },
    responseId: 'answer1',
  }
  const events = gemini.decodeBody(body, ACCOUNT)
  expect(events).toEqual(decode([body]))
  expect(itemsOf(events)).toMatchObject([{ type: 'reasoning' }, { type: 'message' }])
})
