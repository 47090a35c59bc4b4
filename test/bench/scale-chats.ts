/** Records chats through a gateway, and looks them up again in every way that clients use. */

export interface Gateway {
  readonly port: number
}

/** What clients remember of one recorded chat. */
export interface RecordedChat {
  readonly at: number
  readonly responseId: string
  /** A second chain, whose last response is deleted. */
  readonly deletedIds: readonly string[]
  readonly conversationId: string
  /** The answer of a remembered chat, as a client without markers keeps it. */
  readonly words: string
  readonly markedText: string
  readonly callId: string
}

export const TENANT = 'bench'

export async function recordChat(gateway: Gateway, at: number): Promise<RecordedChat> {
  const respond = async (previous: string | null, text: string) =>
    (await post(gateway, '/responses', {
      input: text,
      previous_response_id: previous,
    })) as Identified
  let response = await respond(null, `${question(at)} one\n/think first\n/say answer ${at}`)
  for (const part of ['two', 'three'])
    response = await respond(response.id, `${question(at)} ${part}`)
  const deleted: string[] = []
  for (let number = 0; number < DELETED; number += 1) {
    deleted.push((await respond(deleted.at(-1) ?? null, `${question(at)} delete ${number}`)).id)
  }
  const conversation = (await post(gateway, '/conversations', {})) as Identified
  for (const part of ['one', 'two', 'three']) {
    await post(gateway, '/responses', {
      input: `${question(at)} ${part}`,
      conversation: conversation.id,
    })
  }
  await ask(gateway, [message(`${question(at)} stored\n/say stored ${at}`)], { store: true })
  const words = await ask(gateway, [message(wordsQuestion(at))])
  const marked = await ask(gateway, [message(markedQuestion(at))], {}, OPEN_WEBUI)
  const called = await ask(gateway, [message(callQuestion(at))])
  return {
    at,
    responseId: response.id,
    deletedIds: deleted,
    conversationId: conversation.id,
    words: words.content ?? '',
    markedText: marked.content ?? '',
    callId: called.tool_calls?.[0]?.id ?? '',
  }
}

/** The number of responses of a chat that are deleted one by one: one for each round. */
const DELETED = 3

export type LookUp = (gateway: Gateway, chat: RecordedChat, round: number) => Promise<unknown>

export const LOOK_UPS: Readonly<Record<string, LookUp>> = {
  'a new chat': (gateway, { at }, round) =>
    ask(gateway, [message(`${question(at)} new in round ${round}\n/say yes`)]),
  'by words': (gateway, { at, words }) =>
    ask(gateway, [
      message(wordsQuestion(at)),
      { role: 'assistant', content: words },
      message(NEXT),
    ]),
  'by marker': (gateway, { at, markedText }) => {
    const answered = { role: 'assistant', content: markedText }
    return ask(gateway, [message(markedQuestion(at)), answered, message(NEXT)], {}, OPEN_WEBUI)
  },
  'by call id': (gateway, { at, callId }) => {
    const called = { id: callId, type: 'function', function: { name: 'weather', arguments: '{}' } }
    return ask(gateway, [
      message(callQuestion(at)),
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: callId, content: 'rain' },
    ])
  },
  previous_response_id: (gateway, { responseId }) =>
    post(gateway, '/responses', { input: NEXT, previous_response_id: responseId }),
  'GET response': (gateway, { responseId }) => get(gateway, `/responses/${responseId}`),
  'input items': (gateway, { responseId }) => get(gateway, `/responses/${responseId}/input_items`),
  'items of a conversation': (gateway, { conversationId }) =>
    get(gateway, `/conversations/${conversationId}/items`),
  explain: (gateway, { responseId }) => get(gateway, `/context/explain/${responseId}`),
  'list of chats': (gateway) => get(gateway, '/chat/completions?limit=20&order=desc'),
  'list of a model': (gateway) => get(gateway, '/chat/completions?limit=20&model=unknown'),
  'list with a label': (gateway) => get(gateway, '/chat/completions?limit=20&metadata[a]=b'),
  DELETE: (gateway, { deletedIds }, round) =>
    send(gateway, `/responses/${deletedIds.at(-1 - round)}`, { method: 'DELETE' }),
}

const NEXT = 'And now?\n/say now'

/** Fills a conversation with items, 20 in each turn. Returns its id. */
export async function recordConversation(gateway: Gateway, turns: number): Promise<string> {
  const { id } = (await post(gateway, '/conversations', {})) as Identified
  for (let turn = 0; turn < turns; turn += 1) {
    const items = [message(`question ${turn}`), { role: 'assistant', content: `answer ${turn}` }]
    await post(gateway, `/conversations/${id}/items`, { items })
  }
  return id
}

export const CONVERSATION_PAGES: Readonly<
  Record<string, (gateway: Gateway, id: string) => Promise<unknown>>
> = {
  'latest page': (gateway, id) => get(gateway, `/conversations/${id}/items`),
  'first page': (gateway, id) => get(gateway, `/conversations/${id}/items?order=asc`),
}

interface Identified {
  readonly id: string
}

const OPEN_WEBUI = { 'x-openwebui-chat-id': 'chat', 'x-openwebui-user-id': 'someone' }

const question = (at: number): string => `Question ${at} about the weather in place ${at * 7919}`
const wordsQuestion = (at: number): string =>
  `${question(at)} by words\n/think it\n/say The answer is ${at}.`
const markedQuestion = (at: number): string =>
  `${question(at)} marked\n/think it\n/say The marked answer is ${at}.`
const callQuestion = (at: number): string => `${question(at)} called\n/think it\n/call weather {}`

function message(content: string): object {
  return { role: 'user', content }
}

interface Answer {
  readonly content: string | null
  readonly tool_calls?: readonly Identified[]
}

async function ask(
  gateway: Gateway,
  messages: readonly object[],
  fields: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = JSON.stringify({ model: 'demo', messages, ...fields })
  const options = { method: 'POST', body, headers }
  const { choices } = (await send(gateway, '/chat/completions', options)) as {
    readonly choices: readonly { readonly message: Answer }[]
  }
  return choices[0]?.message ?? { content: null }
}

interface HttpRequest {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

function post(gateway: Gateway, path: string, body: object): Promise<unknown> {
  return send(gateway, path, { method: 'POST', body: JSON.stringify({ model: 'demo', ...body }) })
}

function get(gateway: Gateway, path: string): Promise<unknown> {
  return send(gateway, path, {})
}

async function send(
  { port }: Gateway,
  path: string,
  { headers = {}, ...options }: HttpRequest,
): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    ...options,
    headers: { ...headers, authorization: 'Bearer sk-bench', 'content-type': 'application/json' },
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 300)}`)
  return JSON.parse(text) as unknown
}
