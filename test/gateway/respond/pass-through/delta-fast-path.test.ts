/** Text deltas that take the fast path give the same result as deltas that are decoded one by one. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textOf } from '../../../../src/core/item.ts'
import type { TextDeltaMessagePattern } from '../../../../src/core/stream/text-delta-message-pattern.ts'
import type { PassThroughOptions } from '../../../../src/gateway/respond/pass-through/pass-through-writer.ts'
import type { ResponseWriter } from '../../../../src/gateway/respond/response-writer-interface.ts'
import { numberOfRuns } from '../../../support/number-of-runs.ts'
import { createWriter, decodeText } from '../../passed-on.ts'

const utf8 = new TextEncoder()
const ID = '"id":"chatcmpl-upstream","object":"chat.completion.chunk"'

/** Matches no event, so that each is decoded. */
const MATCHES_NOTHING: TextDeltaMessagePattern = {
  before: /(?!)/,
  after: /(?!)/,
  excludedPatterns: [],
}
const decodeEachEvent = ({ patcher }: PassThroughOptions) => ({
  patcher: { ...patcher, textDeltaPattern: MATCHES_NOTHING },
})

/** Writes the pieces as `streamAnswerToClient` does, and returns the result. */
function playStream(writer: ResponseWriter, pieces: readonly Uint8Array[]) {
  let output = ''
  for (const piece of pieces) {
    output += decodeText(writer.push(piece))
    if (writer.isOver()) break
  }
  output += writer.endBody(null)
  const outcome = writer.getOutcome()
  return { output: output + writer.renderEnd(outcome), outcome, isCut: writer.isCutShort() }
}

const TEXTS = [
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
const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
)
/** Some upstreams escape other characters than ASCII: `\u00fc` for `ü`. */
const textLiteral = fc.tuple(text, fc.boolean()).map(([text, isAscii]) => {
  const json = JSON.stringify(text)
  if (!isAscii) return json
  return json.replaceAll(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
})
const invalidLiteral = fc.constantFrom(
  `"a`,
  `"\\q"`,
  `"a\tb"`,
  `"a""b"`,
  `"x"},`,
  `null`,
  `7`,
  `["x"]`,
)
const literal = fc.oneof(
  { weight: 40, arbitrary: textLiteral },
  { weight: 1, arbitrary: invalidLiteral },
)

/** Generates an empty text three times out of four, else one of the fields that rule the fast path out. */
function usuallyEmpty(...others: readonly string[]) {
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
    before: usuallyEmpty(
      '"role":"assistant",',
      '"content":null,',
      '"content":"assistant",',
      `${FRAGMENT},`,
    ),
    after: usuallyEmpty(
      ',"reasoning":null',
      ',"role":"assistant"',
      ',"annotations":[{"type":"x","n":1}]',
    ),
    first: usuallyEmpty(`${TOKENS},`, '"logprobs":null,'),
    last: usuallyEmpty(`,${TOKENS}`, ',"logprobs":null', ',"finish_reason":null'),
    index: fc.constantFrom('"index":0,', '"index":0,', '"index":0,', '', '"index":1,'),
    earlier: usuallyEmpty(
      '{"index":0,"delta":{"refusal":"n"}},',
      '{"index":1,"delta":{"content":"z"}},',
    ),
    later: usuallyEmpty(',{"index":0,"delta":{"content":"n"}}', ',{"index":1,"delta":\t{}}'),
    rest: usuallyEmpty(',"obfuscation":"aB3"', ',"usage":null', ',"usage":{"prompt_tokens":3}'),
    more: usuallyEmpty(',"event":{"type":"execute"}', ',"type":"response.x"'),
    space: usuallyEmpty(' '),
    head: usuallyEmpty('event: message\n', ': hello\n', 'id: 3\n'),
  })

  .map((e) => (jsonText: string) => {
    const delta = `{${e.before}"${e.field}":${e.space}${jsonText}${e.after}}`
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
    rest: usuallyEmpty(
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
  .map((e) => (jsonText: string) => {
    const type = `response.${e.type}`
    const head = e.isNamed ? `event: ${type}\n` : ''
    return `${head}data: {"type":"${type}","sequence_number":${e.number},"item_id":"i","output_index":0,${e.part}"delta":${jsonText}${e.rest}}\n\n`
  })

const CALL = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}\n\n`

/** Generates events that mostly repeat one form with different texts. */
function eventStream(form: fc.Arbitrary<(jsonText: string) => string>) {
  const many = fc
    .tuple(form, fc.array(literal, { minLength: 1, maxLength: 7 }))
    .map(([createEvent, all]) => all.map(createEvent))
  const others = [': hello\n\n', 'data: [DONE]\n\n', 'data: {"id":"', 'event: x\n', '\n', CALL]
  const other = fc.constantFrom(...others).map((text) => [text])
  const some = fc.oneof({ weight: 12, arbitrary: many }, { weight: 2, arbitrary: other })
  const usesCrLf = fc.nat(30).map((number) => number === 0)
  return fc
    .array(fc.tuple(some, usesCrLf), { maxLength: 6 })
    .map((all) =>
      all.flatMap(([events, hasCrLf]) =>
        hasCrLf ? events.map((event) => event.replaceAll('\n', '\r\n')) : events,
      ),
    )
}

const CASES = [
  {
    name: 'chat',
    events: eventStream(chatForm),
    end: `data: {${ID},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
    createEvent: (jsonText: string) =>
      `data: {${ID},"choices":[{"index":0,"delta":{"content":${JSON.stringify(jsonText)}}}]}\n\n`,
  },
  {
    name: 'responses',
    events: eventStream(responsesForm),
    end: 'data: {"type":"response.completed","response":{"id":"up","object":"response","status":"completed","output":[]}}\n\n',
    createEvent: (jsonText: string, at: number) =>
      `data: {"type":"response.output_text.delta","output_index":0,"delta":${JSON.stringify(jsonText)},"sequence_number":${at}}\n\n`,
  },
] as const

describe.each(CASES)(
  'the fast path for text deltas in the dialect $name',
  ({ name, events, end }) => {
    test.each([false, true])(
      'the fast path for text deltas passes on and decodes a stream as if each event were parsed (stored: %s)',
      (isStored) => {
        fc.assert(
          fc.property(events, fc.boolean(), fc.nat({ max: 3 }), (list, isComplete, groupSize) => {
            const all = isComplete ? [...list, end, 'data: [DONE]\n\n'] : list
            const pieces: Uint8Array[] = []
            for (let at = 0; at < all.length; at += groupSize + 1) {
              pieces.push(utf8.encode(all.slice(at, at + groupSize + 1).join('')))
            }
            const each = playStream(createWriter(name, isStored, decodeEachEvent), pieces)
            expect(playStream(createWriter(name, isStored), pieces)).toEqual(each)
          }),
          numberOfRuns(1000),
        )
      },
    )
  },
)

const [chatCase, responsesCase] = CASES
const annotationEvent = (jsonText: string) =>
  `data: {"type":"response.output_text.annotation.added","output_index":0,"delta":"${jsonText}","annotation":{"type":"x"}}\n\n`

test.each([
  [
    'white space after a call',
    chatCase,
    [CALL, ...['\n', '\n', 'Done', '.'].map((jsonText) => chatCase.createEvent(jsonText))],
  ],
  [
    'an event with other line ends before the delta',
    chatCase,
    ['a', 'b', 'c'].map(
      (jsonText) =>
        chatCase.createEvent('A').replaceAll('\n', '\r\n') + chatCase.createEvent(jsonText),
    ),
  ],
  [
    'an annotation with a delta',
    responsesCase,
    [responsesCase.createEvent('x', 0), ...['a', 'b', 'c'].map(annotationEvent), responsesCase.end],
  ],
  [
    'a text of several megabytes',
    chatCase,
    ['a', 'b', 'я'.repeat(1_000_000), 'c'].map((jsonText) =>
      chatCase.createEvent(jsonText).replaceAll('я', String.raw`\u044f`),
    ),
  ],
] as const)(
  'the fast path for text deltas passes on and decodes %s as if each event were parsed',
  (_, { name }, events) => {
    const pieces = events.map((event) => utf8.encode(event))
    for (const isStored of [false, true]) {
      const each = playStream(createWriter(name, isStored, decodeEachEvent), pieces)
      expect(playStream(createWriter(name, isStored), pieces)).toEqual(each)
    }
  },
)

test.each(CASES)(
  'the fast path decodes 50 text deltas of a stream in $name with fewer than 5 calls of the decoder',
  ({ name, createEvent }) => {
    const text = Array.from({ length: 50 }, (_, at) => createEvent(`word${at} "😀"`, at))
    let decoderCalls = 0
    const { push, endBody, getOutcome } = createWriter(name, true, ({ decoder }) => ({
      decoder: {
        ...decoder,
        push(message) {
          decoderCalls += 1
          return decoder.push(message)
        },
      },
    }))
    for (const event of text) push(utf8.encode(event))
    expect(decoderCalls).toBeLessThan(5)
    endBody(null)
    const [message] = getOutcome().items
    expect(message?.type === 'message' && textOf(message.content)).toMatch(
      /^word0 "😀"word1.*word49 "😀"$/,
    )
  },
)
