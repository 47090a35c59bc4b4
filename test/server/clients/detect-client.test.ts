/** Detects the client program by its headers and by the form of its requests. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { detectClient } from '../../../src/server/clients/detect-client.ts'
import { DEFAULT_CLIENT_TRAITS, type ClientTraits } from '../../../src/core/client/client-traits.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { readShared, sharedExists } from '../../support/shared-files.ts'

type Pairs = Readonly<Record<string, string>>
type Markers = 'auto' | 'always' | 'never'

const HI = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }
const OPEN_WEBUI = { 'X-OpenWebUI-Chat-Id': 'c1' }

function client(headers: Pairs, body: JsonObject = HI, MARKERS: Markers = 'auto') {
  return detectClient(new Headers(headers), body, { MARKERS, REMEMBER: 'on' })
}

const task = (content: string, more: JsonObject = {}) => ({
  model: 'm',
  stream: false,
  messages: [{ role: 'user', content }],
  ...more,
})

describe('recognizing Open WebUI by its headers', () => {
  test.each<readonly [string, Pairs]>([
    ['by any X-OpenWebUI header', { 'X-OpenWebUI-Something-New': '1' }],
    ['by its signed user token alone', { 'x-openwebui-user-jwt': 'a.b.c' }],
    ['by the headers of its connection', { 'X-Backstory-Chat': 'c1', 'X-Backstory-Task': '' }],
    ['by one connection header, although it is empty', { 'X-Backstory-User-Parent': '' }],
  ])('Open WebUI is recognized %s', (_, headers) => {
    expect(client(headers)).toMatchObject({ isOpenWebUi: true, dropsLongLines: true })
  })

  test.each<readonly [string, Pairs]>([
    ['no headers', {}],
    [
      'headers that other clients send, too',
      { authorization: 'Bearer x', 'user-agent': 'aiohttp' },
    ],
    ['a gateway header for a single request', { 'x-backstory-unsupported': 'note' }],
    ['X-Backstory-User alone, which any client may send', { 'X-Backstory-User': 'u1' }],
  ])('Open WebUI is not recognized by %s', (_, headers) => {
    expect(client(headers)).toEqual(DEFAULT_CLIENT_TRAITS)
  })
})

describe('clients and requests whose answers get markers', () => {
  test.each<readonly [Markers, Pairs, boolean]>([
    ['auto', {}, false],
    ['auto', OPEN_WEBUI, true],
    ['always', {}, true],
    ['never', OPEN_WEBUI, false],
    ['always', { 'x-backstory-task': 'title_generation' }, false],
  ])(
    'with MARKERS=%s, an answer to a client with the headers %j gets markers: %s',
    (markers, headers, receivesMarkers) => {
      expect(client(headers, HI, markers).receivesMarkers).toBe(receivesMarkers)
    },
  )

  test.each<readonly [string, JsonObject, boolean]>([
    ['JSON', { response_format: { type: 'json_object' } }, false],
    ['JSON by a schema', { response_format: { type: 'json_schema', json_schema: {} } }, false],
    ['JSON in a response', { text: { format: { type: 'json_schema' } } }, false],
    ['an output grammar', { response_format: { type: 'grammar' } }, false],
    ['several answers', { n: 2 }, false],
    ['plain text', { n: 1, response_format: { type: 'text' }, text: { verbosity: 'low' } }, true],
    ['fields that are null', { n: null, response_format: null, text: null }, true],
  ])(
    "the answer to Open WebUI's request for %s (fields %j) gets markers: %s",
    (_, more, receivesMarkers) => {
      expect(client(OPEN_WEBUI, { ...HI, ...more }).receivesMarkers).toBe(receivesMarkers)
    },
  )
})

describe('recognizing task requests of Open WebUI', () => {
  test('a task request of Open WebUI is recognized by the header X-Backstory-Task, whatever its body (C128)', () => {
    const headers = { 'X-Backstory-Task': 'my_own_task' }
    expect(client(headers)).toMatchObject({
      isTask: true,
      receivesMarkers: false,
      isOpenWebUi: true,
    })
  })

  test('an X-Backstory-Task header that is empty or an unfilled template does not make a request a task request', () => {
    expect(client({ 'X-Backstory-Task': '' }).isTask).toBe(false)
    expect(client({ 'X-Backstory-Task': '{{TASK}}' }).isTask).toBe(false)
  })

  const CHAT = '<chat_history>\nUSER: hi\n</chat_history>'
  test.each<readonly [string, JsonObject]>([
    ['a title', task(`### Task:\nGenerate a title.\n${CHAT}`)],
    ['words of an administrator', task(`### Task:\nGib einen Titel.\n${CHAT}`)],
    [
      'text in parts',
      task('', { messages: [{ content: [{ type: 'text', text: `### Task:\nx${CHAT}` }] }] }),
    ],
    ['a face', task("Your task is to reflect the speaker's likely facial expression through a…")],
    ['a summary', task('### Task:\nSummarize the conversation history that will be compacted:')],
    ['a completion', task('### Task:\nYou are an autocompletion system. Continue the text')],
    [
      'answers to be merged, streamed',
      task('You have been provided with a set of responses from various models to…', {
        stream: true,
      }),
    ],
    ['no tools at all', task(`### Task:\nx${CHAT}`, { tools: [], stream: null })],
    [
      'a choice among tools',
      {
        messages: [
          { role: 'system', content: 'Available Tools: [{"name":"look"}]\nYour task is to choose' },
          { role: 'user', content: 'History:\nUSER: """hi"""\nQuery: hi' },
        ],
      },
    ],
    [
      'a choice among tools in the first round',
      {
        messages: [
          { role: 'system', content: 'Available Tools: [{"name":"look"}]\nYour task is to choose' },
          { role: 'user', content: 'Query: hi' },
        ],
      },
    ],
    [
      'a choice among tools in the first round, over a Responses connection',
      {
        instructions: 'Available Tools: [{"name":"look"}]\nYour task is to choose',
        input: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Query: hi' }] },
        ],
      },
    ],
    [
      'a review of memories',
      {
        messages: [
          { role: 'system', content: "You are Open WebUI's private memory reviewer. Look" },
          { role: 'user', content: 'hi' },
        ],
      },
    ],
    [
      'a title, as a response',
      {
        input: [
          {
            type: 'message',
            role: 'user',
            content: [{ type: 'input_text', text: `### Task:\nx${CHAT}` }],
          },
        ],
      },
    ],
    ['a title, as a response of one text', { input: `### Task:\nx${CHAT}` }],
    [
      'a review, as a response',
      { instructions: "You are Open WebUI's private memory reviewer.", input: 'hi' },
    ],
  ])('an Open WebUI task request is recognized by its prompt: %s', (_, body) => {
    expect(client({}, body).isTask).toBe(true)
  })

  test.each<readonly [string, JsonObject]>([
    ['a chat', HI],
    ['a streamed request with a task prompt', task(`### Task:\nx${CHAT}`, { stream: true })],
    ['a request with tools', task(`### Task:\nx${CHAT}`, { tools: [{ type: 'function' }] })],
    ['a task prompt without a chat history', task('### Task:\nWrite a poem')],
    [
      'a question about documents',
      task(`### Task:\nRespond to the user query using the provided context\n${CHAT}`),
    ],
    [
      'a longer chat',
      task('', {
        messages: [1, 2, 3].map(() => ({ role: 'user', content: `### Task:\nx${CHAT}` })),
      }),
    ],
    ['a question that quotes a task prompt', task(`What is this?\n### Task:\nx${CHAT}`)],
    ['an empty body', {}],
    ['values of wrong types', { messages: [7, null], input: {}, instructions: 5 }],
    ['parts of wrong types', { messages: [{ content: [null] }, { content: [{ text: 5 }] }] }],
  ])('a request is not recognized as an Open WebUI task request if it is %s', (_, body) => {
    expect(client({}, body).isTask).toBe(false)
  })
})

describe('temporary chats of Open WebUI', () => {
  test.each(['local:s1', 'temporary:UrD9AvtnKfAXYNqFAAHJ', 'ephemeral:s1'])(
    'a chat is temporary if its id has a prefix, such as %s',
    (id) => {
      expect(client({ 'X-OpenWebUI-Chat-Id': id }).isTemporary).toBe(true)
      expect(client({ 'X-Backstory-Chat': id }).isTemporary).toBe(true)
      expect(client({ 'X-Backstory-User': id }).isTemporary).toBe(false)
    },
  )

  test('saved chats, channels and requests without a chat are not temporary', () => {
    const property = fc.property(
      fc.oneof(
        fc.uuid(),
        fc.uuid().map((id) => `channel:${id}`),
        fc.constantFrom('', 'an-id-of-an-api-client', ':'),
      ),
      (id) => {
        expect(client({ 'X-Backstory-Chat': id }).isTemporary).toBe(false)
      },
    )
    fc.assert(property)
  })
})

interface RecordedRequest {
  readonly kind: string
  readonly headers: readonly [string, string][]
  readonly body: JsonObject | null
}

describe.skipIf(!sharedExists)('detection of recorded requests of Open WebUI', () => {
  const recorded = sharedExists
    ? readShared('fixtures/open-webui/requests.jsonl')
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as RecordedRequest)
        .filter(({ body }) => body !== null)
    : []
  const isIdentifyingHeader = ([name]: readonly [string, string]) =>
    /^x-(gw|openwebui)-/i.test(name)

  test.each(recorded)(
    'the recorded request "$kind" is recognized as Open WebUI\'s by its headers; without them, only a task is recognized, by its prompt',
    ({ kind, headers, body }) => {
      const isTask = kind.includes('task:')
      const isTemporary = kind.includes('temporary')
      const allHeaders = headers.map(([name, value]): [string, string] => [
        name.replace('X-Gw-', 'X-Backstory-'),
        value,
      ])
      const otherHeaders = headers.filter((header) => !isIdentifyingHeader(header))
      expect(
        detectClient(new Headers(allHeaders), body ?? {}, { MARKERS: 'auto', REMEMBER: 'on' }),
      ).toMatchObject({
        isOpenWebUi: true,
        dropsLongLines: true,
        isTask,
        wantsFullStatus: false,
        isTemporary,
        // The recorded connection has all recommended headers, which are empty for programs.
        receivesMarkers: false,
        answerMessage:
          isTask || kind.includes('API') ? null : { chat: expect.any(String) as string },
      })
      const byPrompt = detectClient(new Headers(otherHeaders), body ?? {}, {
        MARKERS: 'auto',
        REMEMBER: 'on',
      })
      expect(byPrompt).toEqual({ ...DEFAULT_CLIENT_TRAITS, dropsLongLines: true, isTask })
    },
  )
})

test('no client receives markers with REMEMBER=off', () => {
  const headers = new Headers({ 'x-backstory-chat': 'c' })
  const settings = { MARKERS: 'always', REMEMBER: 'off' } as const
  expect(detectClient(headers, { messages: [] }, settings).receivesMarkers).toBe(false)
})

describe('what names the turn of an answer to Open WebUI', () => {
  const IDS = { 'X-Backstory-Chat': 'c1', 'X-Backstory-Message': 'a1' }
  const INPUT = { model: 'm', stream: true, input: [] }

  test.each<readonly [string, Pairs, JsonObject, Partial<ClientTraits>]>([
    [
      'the headers that name the branch, and the entry beside its reasoning',
      { ...IDS, 'X-Backstory-User-Parent': '' },
      HI,
      { receivesMarkers: false, returnsReasoningReferences: true },
    ],
    [
      'these headers alone on a Responses connection',
      { ...IDS, 'X-Backstory-User-Parent': 'a0' },
      INPUT,
      { receivesMarkers: false, returnsReasoningReferences: false },
    ],
    [
      'a marker or the entry beside its reasoning without the header of the parent',
      IDS,
      HI,
      { receivesMarkers: true, marksOnlyAnswerEnds: true, returnsReasoningReferences: true },
    ],
    [
      'a marker at the end on a Responses connection without headers of the messages',
      OPEN_WEBUI,
      INPUT,
      { receivesMarkers: true, marksOnlyAnswerEnds: true, returnsReasoningReferences: false },
    ],
    [
      'nothing with an empty chat header, as Playground and programs send it',
      { 'X-Backstory-Chat': '', 'X-Backstory-Message': '', 'X-Backstory-User-Parent': '' },
      HI,
      { receivesMarkers: false, returnsReasoningReferences: false, answerMessage: null },
    ],
  ])('%s', (_, headers, body, traits) => {
    expect(client(headers, body)).toMatchObject(traits)
  })

  test('MARKERS=always writes markers to every client at once, MARKERS=never no reference at all', () => {
    const headers = { ...IDS, 'X-Backstory-User-Parent': 'a0' }
    const always = { receivesMarkers: true, marksOnlyAnswerEnds: false }
    expect(client(headers, HI, 'always')).toMatchObject(always)
    const never = { receivesMarkers: false, returnsReasoningReferences: false }
    expect(client(headers, HI, 'never')).toMatchObject(never)
  })

  test('the ids of the chat and its messages are read, except templates without a value and very long ids', () => {
    const ids = (more: Pairs) => client({ ...IDS, ...more }).answerMessage
    expect(ids({})).toEqual({ chat: 'c1', message: 'a1', parent: null })
    expect(ids({ 'X-Backstory-User-Parent': '' })).toMatchObject({ parent: '' })
    expect(ids({ 'X-Backstory-User-Parent': '{{USER_MESSAGE_PARENT_ID}}' })?.parent).toBeNull()
    expect(ids({ 'X-Backstory-Message': '{{MESSAGE_ID}}' })).toBeNull()
    expect(ids({ 'X-Backstory-Chat': 'c'.repeat(257) })).toBeNull()
  })
})
