/** Open WebUI's own HTTP API, with the token of one of its users. */
import { randomUUID } from 'node:crypto'
import type { Page } from './playwright.ts'
import { waitFor } from './processes.ts'

export interface StoredMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly parentId: string | null
  readonly done?: boolean
  readonly error?: unknown
  readonly content: string
  readonly output?: readonly StoredOutput[]
}

interface StoredOutput {
  readonly type: string
  readonly content?: readonly { readonly text?: string }[]
}

export interface StoredChat {
  readonly id: string
  readonly title: string
  readonly chat: {
    readonly history: {
      readonly currentId: string
      readonly messages: Readonly<Record<string, StoredMessage>>
    }
  }
}

export interface OpenWebUiApi {
  /** The value of the header of that name. */
  readonly authorization: string
  readonly get: <Value>(path: string) => Promise<Value>
  readonly post: <Value>(path: string, body: unknown) => Promise<Value>
  readonly readChat: (id: string) => Promise<StoredChat>
}

const REQUEST_MS = 30_000

export async function openApi(url: string, page: Page): Promise<OpenWebUiApi> {
  return createApi(url, await page.evaluate<string>('localStorage.token'))
}

export function createApi(url: string, token: string): OpenWebUiApi {
  const authorization = `Bearer ${token}`
  const request = async (path: string, init: RequestInit): Promise<unknown> => {
    const response = await fetch(url + path, {
      ...init,
      headers: { authorization, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(REQUEST_MS),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 300)}`)
    return JSON.parse(text)
  }
  const get = async <Value>(path: string) => (await request(path, {})) as Value
  return {
    authorization,
    get,
    post: async <Value>(path: string, body: unknown) =>
      (await request(path, { method: 'POST', body: JSON.stringify(body) })) as Value,
    readChat: (id) => get<StoredChat>(`/api/v1/chats/${id}`),
  }
}

/** A chat that is led through the API, as the page does it. */
export interface ApiChat {
  /** Resolves to the words of the answer. */
  readonly ask: (question: string) => Promise<string>
}

export function startApiChat(api: OpenWebUiApi, model: string): ApiChat {
  let chatId: string | null = null
  let parentId: string | null = null
  return {
    async ask(question) {
      const own: string = randomUUID()
      const user = {
        id: randomUUID(),
        parentId,
        childrenIds: [own],
        role: 'user',
        content: question,
        models: [model],
        timestamp: Math.floor(Date.now() / 1000),
      }
      const body = {
        stream: true,
        model,
        model_item: { id: model },
        params: {},
        tool_servers: [],
        features: {},
        variables: {},
        session_id: 'suite',
        id: own,
        parent_id: parentId,
        user_message: user,
        background_tasks: {},
        ...(chatId === null ? {} : { chat_id: chatId }),
      }
      const started: { readonly chat_id?: string } = await api.post('/api/chat/completions', body)
      chatId = started.chat_id ?? chatId
      if (chatId === null) throw new Error('Open WebUI did not start a chat.')
      const id: string = chatId
      parentId = own
      const message = await waitFor('an answer over the API', 60_000, async () => {
        const found = (await api.readChat(id)).chat.history.messages[own]
        return found?.done === true || found?.error !== undefined ? found : null
      })
      return textOf(message)
    },
  }
}

/** Returns the words of an answer, wherever this version of Open WebUI stores them. */
export function textOf({ content, output = [] }: StoredMessage): string {
  const parts = output.flatMap((item) => (item.type === 'message' ? (item.content ?? []) : []))
  return parts.length === 0 ? content : parts.map(({ text = '' }) => text).join('\n')
}
