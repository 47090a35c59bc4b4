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
  /** An answer with a marker. */
  readonly marked: Answer
  /** An answer to Open WebUI whose message has an id. */
  readonly named: Answer
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
  const marked = await ask(gateway, [message(markedQuestion(at))], {}, {})
  const headers = openWebUi(at, `answer-${at}`, '')
  const named = await ask(gateway, [message(namedQuestion(at))], {}, headers)
  const called = await ask(gateway, [message(callQuestion(at))])
  return {
    at,
    responseId: response.id,
    deletedIds: deleted,
    conversationId: conversation.id,
    words: (words.content ?? '').replace(/\[\w{20}\]: #\s*/, ''),
    marked,
    named,
    callId: called.tool_calls?.[0]?.id ?? '',
  }
}

/** The number of responses of a chat that are deleted one by one: one for each round. */
const DELETED = 3

export type LookUp = (gateway: Gateway, chat: RecordedChat, round: number) => Promise<unknown>

/** Look-ups that must add the reasoning of the recorded answer to the prompt. */
const RECALLS = {
  'by words': (gateway: Gateway, { at, words }: RecordedChat, explain: HeaderRecord) => {
    const answered = { role: 'assistant', content: words }
    return ask(gateway, [message(wordsQuestion(at)), answered, message(NEXT)], {}, explain)
  },
  'by marker': (gateway: Gateway, { at, marked }: RecordedChat, explain: HeaderRecord) =>
    ask(gateway, [message(markedQuestion(at)), sendBack(marked), message(NEXT)], {}, explain),
  'by message id': (gateway: Gateway, { at, named }: RecordedChat, explain: HeaderRecord) => {
    const ids = openWebUi(at, `next-${at}`, `answer-${at}`)
    const messages = [message(namedQuestion(at)), sendBack(named), message(NEXT)]
    return ask(gateway, messages, {}, { ...ids, ...explain })
  },
  'by call id': (gateway: Gateway, { at, callId }: RecordedChat, explain: HeaderRecord) => {
    const call = { name: 'weather', arguments: callArguments(at) }
    const called = { id: callId, type: 'function', function: call }
    const messages = [
      message(callQuestion(at)),
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: callId, content: 'rain' },
    ]
    return ask(gateway, messages, {}, explain)
  },
}

const recallBy =
  (name: keyof typeof RECALLS): LookUp =>
  (gateway, chat) =>
    RECALLS[name](gateway, chat, {})

/** Throws if the gateway does not find what it has stored of the chat. */
export async function checkRecalls(gateway: Gateway, chat: RecordedChat): Promise<void> {
  for (const [name, recall] of Object.entries(RECALLS)) {
    const { context } = await recall(gateway, chat, { 'x-backstory-explain': 'true' })
    if (!/\badded=[1-9]/.test(context ?? ''))
      throw new Error(`"${name}" found nothing of chat ${chat.at}: ${context}`)
  }
}

export const LOOK_UPS: Readonly<Record<string, LookUp>> = {
  'a new chat': (gateway, { at }, round) =>
    ask(gateway, [message(`${question(at)} new in round ${round}\n/say yes`)]),
  'by words': recallBy('by words'),
  'by marker': recallBy('by marker'),
  'by message id': recallBy('by message id'),
  'by call id': recallBy('by call id'),
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

/** The headers of Open WebUI. */
function openWebUi(at: number, messageId: string, parentId: string): HeaderRecord {
  return {
    'x-openwebui-user-id': 'someone',
    'x-backstory-chat': `chat-${at}`,
    'x-backstory-message': messageId,
    'x-backstory-user-parent': parentId,
  }
}

const question = (at: number): string => `Question ${at} about the weather in place ${at * 7919}`
const wordsQuestion = (at: number): string =>
  `${question(at)} by words\n/think it\n/say The answer is ${at}.`
const markedQuestion = (at: number): string =>
  `${question(at)} marked\n/think it\n/say The marked answer is ${at}.`
const namedQuestion = (at: number): string =>
  `${question(at)} named\n/think it\n/say The named answer is ${at}.`
// The demo model numbers the calls of each chat from 1, so their ids alone name no chat.
const callArguments = (at: number): string => JSON.stringify({ place: at })
const callQuestion = (at: number): string =>
  `${question(at)} called\n/think it\n/call weather ${callArguments(at)}`

function sendBack({ content }: Answer): object {
  return { role: 'assistant', content }
}

function message(content: string): object {
  return { role: 'user', content }
}

type HeaderRecord = Readonly<Record<string, string>>

interface Answer {
  readonly content: string | null
  readonly tool_calls?: readonly Identified[]
}

async function ask(
  gateway: Gateway,
  messages: readonly object[],
  fields: object = {},
  headers: HeaderRecord = {},
): Promise<Answer & { readonly context: string | null }> {
  const body = JSON.stringify({ model: 'demo', messages, ...fields })
  const options = { method: 'POST', body, headers }
  const response = await fetchOk(gateway, '/chat/completions', options)
  const { choices } = (await response.json()) as {
    readonly choices: readonly { readonly message: Answer }[]
  }
  const context = response.headers.get('x-backstory-context')
  return { ...(choices[0]?.message ?? { content: null }), context }
}

interface HttpRequest {
  readonly method?: string
  readonly body?: string
  readonly headers?: HeaderRecord
}

function post(gateway: Gateway, path: string, body: object): Promise<unknown> {
  return send(gateway, path, { method: 'POST', body: JSON.stringify({ model: 'demo', ...body }) })
}

function get(gateway: Gateway, path: string): Promise<unknown> {
  return send(gateway, path, {})
}

async function send(gateway: Gateway, path: string, request: HttpRequest): Promise<unknown> {
  return (await fetchOk(gateway, path, request)).json()
}

async function fetchOk(
  { port }: Gateway,
  path: string,
  { headers = {}, ...options }: HttpRequest,
): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    ...options,
    headers: { ...headers, authorization: 'Bearer sk-bench', 'content-type': 'application/json' },
  })
  if (!response.ok)
    throw new Error(`${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
  return response
}
