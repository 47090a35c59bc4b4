/**
 * Checks the table "What survives" of the README, row by row: the model reasons, uses a provider tool, calls
 * a client tool and writes text in between; then each kind of client asks a second question in its own way.
 */
import { readFileSync } from 'node:fs'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { responsesEvents } from '../support/services/responses-events.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const TOOL = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }
const CHAT_TOOLS = [{ type: 'function' as const, function: TOOL }]
const TOOLS = [{ type: 'function' as const, strict: false, ...TOOL }]
const Q1 = 'How is the weather?'
const Q2 = 'And tomorrow?'
const MODEL = 'gpt-5'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
let openai: OpenAI

beforeAll(async () => {
  upstream = await startUpstream((response, { json }) => {
    const whole = answerTo(json as JsonObject)
    response.writeHead(200, {
      'content-type': json['stream'] === true ? 'text/event-stream' : 'application/json',
    })
    response.end(
      json['stream'] === true ? responsesEvents(whole, 'plain').join('') : JSON.stringify(whole),
    )
  })
  gateway = await startGateway(
    upstreams({ name: 'up', wire: 'responses', baseUrl: upstream.url, apiKey: 'k' }),
  )
  openai = gateway.openai
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

let answers = 0

function answerTo(asked: JsonObject): JsonObject {
  const input = asked['input'] as readonly JsonObject[]
  const isLooped = input.at(-1)?.['type'] === 'function_call_output'
  const hasTools = Array.isArray(asked['tools']) && asked['tools'].length > 0
  answers += 1
  const search = { type: 'web_search_call', id: id('ws'), status: 'completed', action: SEARCH }
  const called = [reasoningItem('a'), messageItem('Let me look.'), call(`call_${answers}`)]
  const first =
    hasTools && !isLooped
      ? called
      : [reasoningItem('a'), search, reasoningItem('b'), messageItem('Sunny.')]
  return {
    id: id('resp'),
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: MODEL,
    output: textOf(input.at(-1)) === Q2 ? [messageItem('Rain.')] : first,
    usage: null,
  }
}

const SEARCH = { type: 'search', query: 'weather' }

function id(kind: string): string {
  return `${kind}_${answers}_${(ids += 1)}`
}

let ids = 0

function reasoningItem(text: string): JsonObject {
  const summary = [{ type: 'summary_text', text }]
  return { type: 'reasoning', id: id('rs'), summary, encrypted_content: `sealed-${text}` }
}

function messageItem(text: string): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { type: 'message', id: id('msg'), role: 'assistant', status: 'completed', content }
}

function call(call_id: string): JsonObject {
  const { name } = TOOL
  return {
    type: 'function_call',
    id: id('fc'),
    call_id,
    name,
    arguments: '{}',
    status: 'completed',
  }
}

function textOf(item: JsonObject | undefined): string {
  const content = item?.['content']
  if (typeof content === 'string') return content
  return ((content ?? []) as readonly { readonly text?: string }[])
    .map(({ text = '' }) => text)
    .join('')
}

interface TestClient {
  /** Asks, answers the tool call if there is one, and asks again. */
  readonly ask: () => Promise<void>
  readonly hasTools: boolean
}

type Messages = OpenAI.ChatCompletionMessageParam[]

/** A chat client that sends all messages that it keeps. */
function chatClient(headers: Readonly<Record<string, string>>, keepsTools: boolean): TestClient {
  const complete = async (messages: Messages) => {
    const tools = keepsTools ? { tools: CHAT_TOOLS } : {}
    const request = { model: MODEL, messages, ...tools, stream: true } as const
    const stream = await openai.chat.completions.create(request, { headers })
    let content = ''
    const calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = []
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta
      content += delta?.content ?? ''
      for (const { index, id: callId = '', function: made } of delta?.tool_calls ?? []) {
        const known = (calls[index] ??= {
          id: callId,
          type: 'function',
          function: { name: '', arguments: '' },
        })
        known.function.name += made?.name ?? ''
        known.function.arguments += made?.arguments ?? ''
      }
    }
    return {
      role: 'assistant' as const,
      content,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    }
  }
  return {
    hasTools: keepsTools,
    async ask() {
      const messages: Messages = [{ role: 'user', content: Q1 }]
      let answer = await complete(messages)
      messages.push(answer)
      const [made] = answer.tool_calls ?? []
      if (made !== undefined) {
        messages.push({ role: 'tool', tool_call_id: made.id, content: '21 degrees' })
        answer = await complete(messages)
        messages.push(answer)
      }
      await complete([...messages, { role: 'user', content: Q2 }])
    },
  }
}

/** Open WebUI with a Responses connection: sends all items without ids and reasoning. */
function responsesClient(headers: Readonly<Record<string, string>>): TestClient {
  const respond = async (input: readonly JsonObject[]): Promise<readonly JsonObject[]> => {
    const { output } = (await openai.responses.create(
      { model: MODEL, input: input as never, tools: TOOLS },
      { headers },
    )) as unknown as { readonly output: readonly JsonObject[] }
    return output.flatMap(({ type, content, call_id, name, arguments: args }): JsonObject[] => {
      if (type === 'function_call') return [{ type, call_id, name, arguments: args }]
      const text = textOf({ content })
      return type === 'message'
        ? [{ type, role: 'assistant', content: [{ type: 'output_text', text }] }]
        : []
    })
  }
  return {
    hasTools: true,
    async ask() {
      const input: JsonObject[] = [{ type: 'message', role: 'user', content: Q1 }]
      input.push(...(await respond(input)))
      const call_id = input.find(({ type }) => type === 'function_call')?.['call_id']
      input.push({ type: 'function_call_output', call_id, output: '21 degrees' })
      input.push(...(await respond(input)))
      await respond([...input, { type: 'message', role: 'user', content: Q2 }])
    },
  }
}

const byResponseId: TestClient = {
  hasTools: true,
  async ask() {
    const first = await openai.responses.create({ model: MODEL, input: Q1, tools: TOOLS })
    const made = first.output.find((item) => item.type === 'function_call')
    const second = await openai.responses.create({
      model: MODEL,
      tools: TOOLS,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: made?.call_id ?? '', output: '21 degrees' }],
    })
    await openai.responses.create({ model: MODEL, input: Q2, previous_response_id: second.id })
  },
}

const OPEN_WEBUI = { 'x-openwebui-chat-id': 'b1', 'x-backstory-task': '' }

const CLIENTS: Readonly<Record<string, TestClient>> = {
  'Open WebUI, chat connection': chatClient(OPEN_WEBUI, true),
  'Open WebUI, responses connection': responsesClient(OPEN_WEBUI),
  'SDK, `messages` each time': chatClient({}, true),
  'SDK, `previous_response_id`': byResponseId,
  'other text clients': chatClient({}, false),
}

/** Returns which items of the first answers were sent with the second question. */
async function findSurvivingItems({ ask }: TestClient): Promise<Readonly<Record<string, boolean>>> {
  upstream.received.length = 0
  await ask()
  const sent = upstream.received.at(-1)?.json['input'] as readonly JsonObject[]
  const types = sent.map((item) => `${String(item['type'] ?? 'message')}${marksOf(item)}`)
  const looped = ['reasoning a', 'message', 'function_call', 'function_call_output']
  const closing = ['reasoning a', 'web_search_call', 'reasoning b', 'message', 'message']
  return {
    words: types.filter((type) => type === 'message').length >= 3,
    reasoning: types.includes('reasoning a') && types.includes('reasoning b'),
    'tool calls and results':
      types.includes('function_call') && types.includes('function_call_output'),
    'tools of the provider': types.includes('web_search_call'),
    'in their order': [
      ['message', ...looped, ...closing],
      ['message', ...closing],
    ].some((order) => order.join() === types.join()),
  }
}

function marksOf({ type, encrypted_content: sealed }: JsonObject): string {
  return type === 'reasoning' ? ` ${String(sealed).replace('sealed-', '')}` : ''
}

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

/** Returns the rows of the README's table by their first column. */
function readTable(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const table = /<!-- survives -->\n([^]*?)<!-- \/survives -->/.exec(README)?.[1] ?? ''
  const [head = [], , ...rows] = table.trim().split('\n').map(cellsOf)
  const named = (cells: readonly string[]): Readonly<Record<string, string>> =>
    Object.fromEntries(head.map((name, at) => [name, cells[at] ?? '']))
  return Object.fromEntries(rows.map((cells) => [cells[0] ?? '', named(cells)]))
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

test("the README's table of surviving items has a row for every kind of client", () => {
  expect(Object.keys(readTable())).toEqual(Object.keys(CLIENTS))
})

test.each(Object.entries(CLIENTS))(
  'the items that survive with the client "%s" are those in the README',
  async (name, client) => {
    const row = readTable()[name] ?? {}
    const survived = await findSurvivingItems(client)
    const result = Object.fromEntries(
      Object.entries(survived).map(([what, isThere]) => [what, isThere ? 'yes' : '–']),
    )
    expect(result).toEqual(Object.fromEntries(Object.keys(result).map((what) => [what, row[what]])))
  },
)
