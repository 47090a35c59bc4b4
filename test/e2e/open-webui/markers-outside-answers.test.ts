/**
 * Markers outside of assistant texts reach no model: in tool outputs, call arguments, quotes and
 * instructions.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatMarkerLine } from '../../../src/core/markers/format-and-extract-markers.ts'
import { startGateway, upstreams } from '../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { answerWith } from '../../support/answer-formats.ts'

const MARK = formatMarkerLine('01KQZ3V8M6T2X9R4B7C9')
const HEADERS = { 'X-Backstory-Chat': 'c', 'X-Backstory-Message': 'm' }
const FOUND = JSON.stringify([
  { title: 't', content: `Answer one.\n\n${MARK}\n\nMore.` },
  { content: `${MARK}\n\nStart` },
])

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream(answerWith({ text: 'So.' }))
  const { url: baseUrl } = upstream
  gateway = await startGateway(
    upstreams(
      { name: 'c', wire: 'chat', models: ['chat-model'], baseUrl, apiKey: 'k' },
      { name: 'r', wire: 'responses', models: ['responses-model'], baseUrl, apiKey: 'k' },
      { name: 'a', wire: 'anthropic', models: ['claude'], baseUrl, apiKey: 'k' },
    ),
  )
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const call = { name: 'search_chats', arguments: JSON.stringify({ q: `x\n\n${MARK}\n\ny` }) }
const ASKED = {
  '/v1/chat/completions': {
    messages: [
      { role: 'system', content: `S\n\n${MARK}\n\nIn this channel: he said ${MARK} to me` },
      { role: 'user', content: `> Answer\n>\n> ${MARK}\n\nWhat of it?` },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: call }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: FOUND },
      { role: 'assistant', content: `See\n\n\`\`\`\n${MARK}\n\`\`\`\n\nand ${MARK} here` },
      { role: 'user', content: 'And?' },
    ],
  },
  '/v1/responses': {
    instructions: `S\n\nIn this channel: he said ${MARK} to me\n\n${MARK}\n\nEnd`,
    input: [
      { role: 'user', content: [{ type: 'input_text', text: `So \`${MARK}\`` }] },
      { type: 'function_call', call_id: 'call_1', ...call },
      { type: 'function_call_output', call_id: 'call_1', output: FOUND },
    ],
  },
} as const

test.each(
  (['chat-model', 'responses-model', 'claude'] as const).flatMap((model) =>
    (['/v1/chat/completions', '/v1/responses'] as const).map((path) => [model, path] as const),
  ),
)(
  'the gateway removes turn markers from tool outputs, calls and quotes for %s over %s',
  async (model, path) => {
    await (await gateway.post(path, { model, stream: true, ...ASKED[path] }, HEADERS)).text()
    const { text } = upstream.received.at(-1) ?? { text: '' }
    expect(text).not.toContain(MARK)
    expect(text).toContain('he said to me')
    const found = JSON.stringify([
      { title: 't', content: 'Answer one.\n\nMore.' },
      { content: 'Start' },
    ])
    expect(text).toContain(JSON.stringify(found).slice(1, -1))
  },
)

test('explain has a note for turn markers that were removed from the instructions', async () => {
  const request = { model: 'responses-model', ...ASKED['/v1/responses'] }
  const response = await gateway.post('/v1/context/explain', { api: 'responses', ...request })
  const { notes } = (await response.json()) as { notes: readonly object[] }
  expect(notes).toContainEqual(
    expect.objectContaining({ did: 'changed', field: 'instructions', why: 'marker-removed' }),
  )
})
