/**
 * The explanation that is derived from the bytes of an unchanged request equals the one at the time of
 * sending, for any request of either dialect.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { DialectName } from '../../src/core/prompt.ts'
import { parseRequestAndBackstoryFields } from '../../src/dialects/context-policy/parse-request-and-backstory-fields.ts'
import { DIALECTS } from '../../src/dialects/dialect-registry.ts'
import { explainPreparedRequest } from '../../src/explain/build-explanation.ts'
import {
  decodeSentRequest,
  encodeSentRequest,
} from '../../src/explain/encode-and-decode-sent-request.ts'
import { NO_HISTORY } from '../../src/gateway/history/loaded-history.ts'
import { prepareRequest } from '../../src/gateway/prompt/prepare-request.ts'
import { decodeBodyText } from '../../src/upstream/transport/decode-body-text.ts'
import { buildHttpRequest } from '../../src/gateway/send/build-http-request.ts'
import { decodeWellFormedText } from '../../src/core/json/well-formed-json.ts'
import { tidyConversation, conversation } from '../support/conversations.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { numberOfRuns } from '../support/number-of-runs.ts'
import { talk } from '../support/talk.ts'
import { toResponsesInput, toChatMessages } from '../support/items-as-client-input.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  const baseUrl = 'http://127.0.0.1:9/v1'
  gateway = await startGateway(
    upstreams(
      { name: 'chat', wire: 'chat', baseUrl, models: ['*'] },
      { name: 'responses', wire: 'responses', baseUrl, models: ['*'] },
    ),
  )
})
afterAll(() => gateway.close())

/** Returns the explanation at the time of sending and the one derived from the stored row. */
function tellings(api: DialectName, body: JsonObject) {
  return tellingsOf(api, new TextEncoder().encode(JSON.stringify(body)))
}

function tellingsOf(api: DialectName, given: Uint8Array) {
  const { dependencies } = gateway
  const account = dependencies.accounts.find(({ wire }) => wire === api)
  if (account === undefined) throw new Error('There is no such account.')
  const { text, bytes } = decodeWellFormedText(given)
  const json = JSON.parse(text) as JsonObject
  const clientRequest = parseRequestAndBackstoryFields(DIALECTS[api], json, () => bytes)
  const prepared = prepareRequest(
    { account, model: 'm' },
    { clientRequest, history: NO_HISTORY },
    dependencies,
  )
  const request = buildHttpRequest(prepared)
  const told = explainPreparedRequest(prepared, request, dependencies.settings)
  const kept = encodeSentRequest(prepared, dependencies)
  return {
    told: asKept({ ...told, body: decodeBodyText(request) }),
    kept,
    read: asKept(decodeSentRequest(kept)),
  }
}

function asKept(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

const head = fc.record({
  store: fc.constantFrom(true, false, undefined),
  max_tokens: fc.constantFrom(undefined, 100),
  metadata: fc.constantFrom(undefined, { a: 'b' }),
  tools: fc.constantFrom(undefined, []),
})

const pinned = fc.boolean()

/** Items of any kind that need no change. */
const asked = fc
  .oneof(conversation, tidyConversation.map(spokenIn))
  .map((items) => [...items, ...talk`user: so?`])

function spokenIn(items: readonly Item[]): readonly Item[] {
  return items.filter(({ type }) => type === 'message' || type.startsWith('function_call'))
}

for (const api of ['chat', 'responses'] as const) {
  test(`the explanation of a stored ${api} request equals that before it was stored`, () => {
    let byBody = 0
    fc.assert(
      fc.property(asked, head, pinned, (items, said, isPinned) => {
        const field = isPinned ? { backstory: { pin: true } } : {}
        const written = api === 'chat' ? toChatMessages(items) : toResponsesInput(items)
        const list = written.map((entry, at) => (at === 0 ? { ...entry, ...field } : entry))
        const { max_tokens, ...rest } = said
        const limit = api === 'chat' ? { max_tokens } : { max_output_tokens: max_tokens }
        const body = {
          model: 'm',
          [api === 'chat' ? 'messages' : 'input']: list,
          ...rest,
          ...limit,
        }
        const { told, kept, read } = tellings(api, asKept(body) as JsonObject)
        if (kept.items === '') byBody += 1
        expect(read).toEqual(told)
      }),
      numberOfRuns(300),
    )
    // Otherwise the test has checked nothing.
    expect(byBody).toBeGreaterThan(0)
  })
}

test('no items are stored of a request with media, tools and instructions whose bytes are forwarded unchanged', () => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
  const messages = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', name: 'ada', content: [{ type: 'text', text: 'What is it?' }, image] },
  ]
  const { told, kept, read } = tellings('chat', { model: 'm', messages, tools })
  expect(read).toEqual(told)
  expect(kept.items).toBe('')
  expect(kept.about.length).toBeLessThan(800)
})

test('a stored request has no explanation if its body cannot be parsed any more', () => {
  const { kept } = tellings('chat', { model: 'm', messages: [{ role: 'user', content: 'Hi!' }] })
  expect(decodeSentRequest(kept)).not.toBeNull()
  expect(decodeSentRequest({ ...kept, body: '{"model":"m","messages":[3]}' })).toBeNull()
  expect(decodeSentRequest({ ...kept, body: '{' })).toBeNull()
})

test.each([
  [
    'a byte order mark',
    '\ufeff{"model":"m","messages":[{"role":"user","content":"Hi!"}],"store":true}',
  ],
  ['half a character', '{"model":"m","messages":[{"role":"user","content":"Hi \\ud83e!"}]}'],
])('the explanation of a stored body with %s equals that before it was stored', (_, text) => {
  const { told, kept, read } = tellingsOf('chat', new TextEncoder().encode(text))
  expect(kept.items).toBe('')
  expect(read).toEqual(told)
})
