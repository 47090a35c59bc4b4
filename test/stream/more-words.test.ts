/** Events that only say more are not read one by one, and nobody can tell. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/conversation/item.ts'
import { foldOutcome } from '../../src/conversation/outcome.ts'
import type { JsonObject } from '../../src/conversation/json.ts'
import { chat } from '../../src/dialect/chat/chat.ts'
import { responses } from '../../src/dialect/responses/responses.ts'
import type { Decoder } from '../../src/provider/provider.ts'
import { openaiChat } from '../../src/provider/openai-chat/openai-chat.ts'
import { openaiResponses } from '../../src/provider/openai-responses/openai-responses.ts'
import type { Rendition } from '../../src/stream/rendition.ts'
import type { WordsAlone } from '../../src/stream/stage.ts'
import { sameLanguage } from '../../src/stream/same-language.ts'
import { runs } from '../support/runs.ts'

const utf8 = new TextEncoder()
const plain = new TextDecoder()
const account = {
  name: 'a',
  wire: 'chat' as const,
  baseUrl: 'http://x',
  apiKey: null,
  models: ['*'],
  headers: {},
  quirks: {},
}
/** Of no event, so that each is read. */
const NEVER: WordsAlone = { before: /(?!)/, after: /(?!)/ }
const turnId = '01JZZZZZZZZZZZZZZZZZ'

const ID = '"id":"chatcmpl-upstream","object":"chat.completion.chunk"'

function watched(decoder: Decoder, look: () => number): Decoder {
  const push: Decoder['push'] = (message) => {
    look()
    return decoder.push(message)
  }
  return { ...decoder, push }
}

const CHAT = {
  say: (words: string) =>
    `data: {${ID},"choices":[{"index":0,"delta":{"content":${JSON.stringify(words)}}}]}\n\n`,
  rendition(stored: boolean, wordsAlone?: WordsAlone, look = () => 0): Rendition {
    const messages = [{ role: 'user', content: 'x' }]
    const inbound = chat.parse({ model: 'm', messages }, new Uint8Array())
    const plain = chat.retouch({ inbound, turnId, createdAtMs: 0, stored })
    const retouch = { ...plain, wordsAlone: wordsAlone ?? plain.wordsAlone }
    const decoder = watched(openaiChat.decode(account), look)
    return sameLanguage({ decoder, retouch, fold: foldOutcome(), isKept: stored })
  },
}
const RESPONSES = {
  say: (words: string, at: number) =>
    `data: {"type":"response.output_text.delta","output_index":0,"delta":${JSON.stringify(words)},"sequence_number":${at}}\n\n`,
  rendition(stored: boolean, wordsAlone?: WordsAlone, look = () => 0): Rendition {
    const inbound = responses.parse({ model: 'm', input: 'x' }, new Uint8Array())
    const plain = responses.retouch({ inbound, turnId, createdAtMs: 0, stored })
    const retouch = { ...plain, wordsAlone: wordsAlone ?? plain.wordsAlone }
    const decoder = watched(openaiResponses.decode({ ...account, wire: 'responses' }), look)
    return sameLanguage({ decoder, retouch, fold: foldOutcome(), isKept: stored })
  },
}

/** What comes of a stream that arrives in these pieces, as the relay would have it. */
function played(rendition: Rendition, pieces: readonly Uint8Array[]) {
  let told = ''
  for (const piece of pieces) {
    const part = rendition.push(piece)
    told += typeof part === 'string' ? part : plain.decode(part)
    if (rendition.isOver()) break
  }
  told += rendition.close(null)
  const outcome = rendition.outcome()
  return { told: told + rendition.end(outcome), outcome, isCut: rendition.isCut() }
}

const words = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(' and', 'Grüß', '😀', 'a"b', 'c\\', '\n', '{"id":', '') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
)
/** Not everybody writes letters as they are. */
const spelled = fc.tuple(words, fc.boolean()).map(([text, isAscii]) => {
  const json = JSON.stringify(text)
  if (!isAscii) return json
  return json.replaceAll(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
})
const broken = fc.constantFrom(`"a`, `"\\q"`, `"a\tb"`, `"a""b"`, `"x"},`, `null`, `7`, `["x"]`)
const literal = fc.oneof({ weight: 40, arbitrary: spelled }, { weight: 1, arbitrary: broken })

const chatEvent = fc
  .record({
    words: literal,
    field: fc.constantFrom('content', 'content', 'content', 'reasoning_content', 'refusal'),
    before: fc.constantFrom('', '', '', '"role":"assistant",', '"content":null,'),
    after: fc.constantFrom('', '', '', ',"reasoning":null', ',"annotations":[{"type":"x","n":1}]'),
    tokens: fc.constantFrom('null', 'null', 'null', '{"content":[{"token":"a","logprob":-1}]}'),
    index: fc.constantFrom(0, 0, 0, 0, 1),
    rest: fc.constantFrom('', '', ',"obfuscation":"aB3"', ',"obfuscation":"x"', ',"usage":null'),
    more: fc.constantFrom('', '', '', ',"event":{"type":"execute"}'),
    space: fc.constantFrom('', '', '', ' '),
  })
  .map((e) => {
    const delta = `{${e.before}"${e.field}":${e.space}${e.words}${e.after}}`
    const choice = `{"index":${e.index},"delta":${delta},"logprobs":${e.tokens},"finish_reason":null}`
    return `data: {${ID},"choices":[${choice}]${e.rest}${e.more}}\n\n`
  })

const responsesEvent = fc
  .record({
    words: literal,
    type: fc.constantFrom('output_text', 'output_text', 'output_text', 'reasoning_summary_text'),
    tokens: fc.constantFrom('[]', '[]', '[]', '[{"token":"a","logprob":-1}]'),
    rest: fc.constantFrom('', '', ',"obfuscation":"aB3"', ',"event":{"type":"execute"}'),
    number: fc.nat(2000),
  })
  .map((e) => {
    const type = `response.${e.type}.delta`
    const at = e.type === 'output_text' ? '"content_index":0' : '"summary_index":0'
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${e.number},"item_id":"i","output_index":0,${at},"delta":${e.words},"logprobs":${e.tokens}${e.rest}}\n\n`
  })

/** Most of what a model says is said in the same way many times. */
function streamOf(event: fc.Arbitrary<string>, reword: (event: string, json: string) => string) {
  const many = fc
    .tuple(event, fc.array(literal, { maxLength: 6 }))
    .map(([first, more]) => [first, ...more.map((json) => reword(first, json))])
  const other = fc.constantFrom(': hello\n\n', 'data: [DONE]\n\n', 'data: {"id":"', 'event: x\n')
  return fc
    .array(
      fc.oneof(
        { weight: 12, arbitrary: many },
        { weight: 1, arbitrary: other.map((text) => [text]) },
      ),
      { maxLength: 6 },
    )
    .map((events) => events.flat())
}

const PLAYS = [
  {
    name: 'chat',
    ...CHAT,
    events: streamOf(chatEvent, (event, json) =>
      event.replace(
        /"(content|reasoning_content|refusal)": ?"(?:[^"\\]|\\.)*"/,
        () => `"content":${json}`,
      ),
    ),
    ends: ['{"index":0,"delta":{},"finish_reason":"stop"}'].map(
      (choice) => `data: {${ID},"choices":[${choice}]}\n\n`,
    ),
  },
  {
    name: 'responses',
    ...RESPONSES,
    events: streamOf(responsesEvent, (event, json) =>
      event.replace(/"delta":"(?:[^"\\]|\\.)*"/, () => `"delta":${json}`),
    ),
    ends: [
      {
        type: 'response.completed',
        response: { id: 'resp_up', object: 'response', status: 'completed', output: [] },
      } satisfies JsonObject,
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  },
]

describe.each(PLAYS)('a stream of $name', ({ rendition, events, ends }) => {
  test.each([false, true])(
    'is told and understood as if each event had been read, kept: %s',
    (kept) => {
      fc.assert(
        fc.property(events, fc.boolean(), fc.nat({ max: 3 }), (list, isWhole, together) => {
          const all = isWhole ? [...list, ...ends, 'data: [DONE]\n\n'] : list
          const pieces: Uint8Array[] = []
          for (let at = 0; at < all.length; at += together + 1) {
            pieces.push(utf8.encode(all.slice(at, at + together + 1).join('')))
          }
          const quickly = played(rendition(kept), pieces)
          expect(quickly).toEqual(played(rendition(kept, NEVER), pieces))
        }),
        runs(1000),
      )
    },
  )
})

test.each(PLAYS)('most of a stream of $name is not read event by event', ({ rendition, say }) => {
  const text = Array.from({ length: 50 }, (_, at) => say(`word${at} "😀"`, at))
  let looks = 0
  const { push, close, outcome } = rendition(true, undefined, () => (looks += 1))
  for (const event of text) push(utf8.encode(event))
  expect(looks).toBeLessThan(5)
  close(null)
  const [message] = outcome().items
  expect(message?.type === 'message' && textOf(message.content)).toMatch(
    /^word0 "😀"word1.*word49 "😀"$/,
  )
})
