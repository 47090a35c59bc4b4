/** Events that only say more are not read one by one, and nobody can tell. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textOf } from '../../../../src/core/item.ts'
import type { ResponseWriter } from '../../../../src/gateway/respond/response-writer-interface.ts'
import type { TextDeltaPattern } from '../../../../src/core/stream/stage.ts'
import type { PassThroughOptions } from '../../../../src/gateway/respond/pass-through/pass-through-stream.ts'
import { numberOfRuns } from '../../../support/number-of-runs.ts'
import { passedOn, textSent } from '../../passed-on.ts'

const utf8 = new TextEncoder()
const ID = '"id":"chatcmpl-upstream","object":"chat.completion.chunk"'

/** Like no event, so that each is read. */
const NEVER: TextDeltaPattern = { before: /(?!)/, after: /(?!)/, excludedPatterns: [] }
const readingEach = ({ patcher }: PassThroughOptions) => ({
  patcher: { ...patcher, textDeltaPattern: NEVER },
})

/** What comes of a stream that arrives in these pieces, as the relay would have it. */
function played(rendition: ResponseWriter, pieces: readonly Uint8Array[]) {
  let told = ''
  for (const piece of pieces) {
    told += textSent(rendition.push(piece))
    if (rendition.isOver()) break
  }
  told += rendition.close(null)
  const outcome = rendition.outcome()
  return { told: told + rendition.end(outcome), outcome, isCut: rendition.isCutShort() }
}

const WORDS = [
  ' and',
  'Grüß',
  '😀',
  'a"b',
  'c\\',
  '{"id":',
  'event',
  'delta',
  'fourteen chars!',
  '',
  ' ',
  '\n',
  '\u00a0',
  'a\u2028',
  '\uFEFF',
]
const words = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
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

/** Nearly always nothing: what there is beside the words is what makes the difference. */
function rarely(...others: readonly string[]) {
  return fc.oneof(
    { weight: 3 * others.length, arbitrary: fc.constant('') },
    { weight: others.length, arbitrary: fc.constantFrom(...others) },
  )
}

const TOKENS = '"logprobs":{"content":[{"token":"a","logprob":-1}]}'
const FRAGMENT = '"tool_calls":[{"index":0,"function":{"arguments":" "}}]'
const chatForm = fc
  .record({
    field: fc.constantFrom('content', 'content', 'content', 'reasoning_content', 'refusal'),
    before: rarely(
      '"role":"assistant",',
      '"content":null,',
      '"content":"assistant",',
      `${FRAGMENT},`,
    ),
    after: rarely(
      ',"reasoning":null',
      ',"role":"assistant"',
      ',"annotations":[{"type":"x","n":1}]',
    ),
    first: rarely(`${TOKENS},`, '"logprobs":null,'),
    last: rarely(`,${TOKENS}`, ',"logprobs":null', ',"finish_reason":null'),
    index: fc.constantFrom('"index":0,', '"index":0,', '"index":0,', '', '"index":1,'),
    earlier: rarely('{"index":0,"delta":{"refusal":"n"}},', '{"index":1,"delta":{"content":"z"}},'),
    later: rarely(',{"index":0,"delta":{"content":"n"}}', ',{"index":1,"delta":\t{}}'),
    rest: rarely(',"obfuscation":"aB3"', ',"usage":null', ',"usage":{"prompt_tokens":3}'),
    more: rarely(',"event":{"type":"execute"}', ',"type":"response.x"'),
    space: rarely(' '),
    head: rarely('event: message\n', ': hello\n', 'id: 3\n'),
  })

  .map((e) => (words: string) => {
    const delta = `{${e.before}"${e.field}":${e.space}${words}${e.after}}`
    const choice = `{${e.first}${e.index}"delta":${delta}${e.last}}`
    return `${e.head}data: {${ID},"choices":[${e.earlier}${choice}${e.later}]${e.rest}${e.more}}\n\n`
  })

const responsesForm = fc
  .record({
    type: fc.constantFrom(
      'output_text.delta',
      'output_text.delta',
      'reasoning_summary_text.delta',
      'refusal.delta',
      'function_call_arguments.delta',
      'output_text.annotation.added',
    ),
    part: fc.constantFrom('"content_index":0,', '"summary_index":0,', ''),
    rest: rarely(
      ',"logprobs":[]',
      ',"logprobs":[{"token":"a","logprob":-1}]',
      ',"obfuscation":"aB3"',
      ',"event":{"type":"execute"}',
      ',"annotation":{"type":"x"}',
      ',"item":{"type":"message"}',
    ),
    number: fc.nat(2000),
    isNamed: fc.boolean(),
  })
  .map((e) => (words: string) => {
    const type = `response.${e.type}`
    const head = e.isNamed ? `event: ${type}\n` : ''
    return `${head}data: {"type":"${type}","sequence_number":${e.number},"item_id":"i","output_index":0,${e.part}"delta":${words}${e.rest}}\n\n`
  })

const CALL = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}\n\n`

/** Most of what a model says is said in the same way many times. */
function streamOf(form: fc.Arbitrary<(words: string) => string>) {
  const many = fc
    .tuple(form, fc.array(literal, { minLength: 1, maxLength: 7 }))
    .map(([say, all]) => all.map(say))
  const others = [': hello\n\n', 'data: [DONE]\n\n', 'data: {"id":"', 'event: x\n', '\n', CALL]
  const other = fc.constantFrom(...others).map((text) => [text])
  const some = fc.oneof({ weight: 12, arbitrary: many }, { weight: 2, arbitrary: other })
  const isOdd = fc.nat(30).map((number) => number === 0)
  return fc
    .array(fc.tuple(some, isOdd), { maxLength: 6 })
    .map((all) =>
      all.flatMap(([events, ends]) =>
        ends ? events.map((event) => event.replaceAll('\n', '\r\n')) : events,
      ),
    )
}

const PLAYS = [
  {
    name: 'chat',
    events: streamOf(chatForm),
    end: `data: {${ID},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
    say: (words: string) =>
      `data: {${ID},"choices":[{"index":0,"delta":{"content":${JSON.stringify(words)}}}]}\n\n`,
  },
  {
    name: 'responses',
    events: streamOf(responsesForm),
    end: 'data: {"type":"response.completed","response":{"id":"up","object":"response","status":"completed","output":[]}}\n\n',
    say: (words: string, at: number) =>
      `data: {"type":"response.output_text.delta","output_index":0,"delta":${JSON.stringify(words)},"sequence_number":${at}}\n\n`,
  },
] as const

describe.each(PLAYS)('a stream of $name', ({ name, events, end }) => {
  test.each([false, true])(
    'is told and understood as if each event had been read, kept: %s',
    (kept) => {
      fc.assert(
        fc.property(events, fc.boolean(), fc.nat({ max: 3 }), (list, isWhole, together) => {
          const all = isWhole ? [...list, end, 'data: [DONE]\n\n'] : list
          const pieces: Uint8Array[] = []
          for (let at = 0; at < all.length; at += together + 1) {
            pieces.push(utf8.encode(all.slice(at, at + together + 1).join('')))
          }
          const each = played(passedOn(name, kept, readingEach), pieces)
          expect(played(passedOn(name, kept), pieces)).toEqual(each)
        }),
        numberOfRuns(1000),
      )
    },
  )
})

const [chatPlay, responsesPlay] = PLAYS
const annotated = (words: string) =>
  `data: {"type":"response.output_text.annotation.added","output_index":0,"delta":"${words}","annotation":{"type":"x"}}\n\n`

test.each([
  [
    'blank words behind a call',
    chatPlay,
    [CALL, ...['\n', '\n', 'Done', '.'].map((words) => chatPlay.say(words))],
  ],
  [
    'another event in front, with other line ends',
    chatPlay,
    ['a', 'b', 'c'].map(
      (words) => chatPlay.say('A').replaceAll('\n', '\r\n') + chatPlay.say(words),
    ),
  ],
  [
    'what is said of an annotation',
    responsesPlay,
    [responsesPlay.say('x', 0), ...['a', 'b', 'c'].map(annotated), responsesPlay.end],
  ],
  [
    'words of some megabytes',
    chatPlay,
    ['a', 'b', 'я'.repeat(1_000_000), 'c'].map((words) =>
      chatPlay.say(words).replaceAll('я', String.raw`\u044f`),
    ),
  ],
] as const)('%s: as if each event had been read', (_, { name }, events) => {
  const pieces = events.map((event) => utf8.encode(event))
  for (const kept of [false, true]) {
    const each = played(passedOn(name, kept, readingEach), pieces)
    expect(played(passedOn(name, kept), pieces)).toEqual(each)
  }
})

test.each(PLAYS)('most of a stream of $name is not read event by event', ({ name, say }) => {
  const text = Array.from({ length: 50 }, (_, at) => say(`word${at} "😀"`, at))
  let looks = 0
  const { push, close, outcome } = passedOn(name, true, ({ decoder }) => ({
    decoder: {
      ...decoder,
      push(message) {
        looks += 1
        return decoder.push(message)
      },
    },
  }))
  for (const event of text) push(utf8.encode(event))
  expect(looks).toBeLessThan(5)
  close(null)
  const [message] = outcome().items
  expect(message?.type === 'message' && textOf(message.content)).toMatch(
    /^word0 "😀"word1.*word49 "😀"$/,
  )
})
