/**
 * A client whose methods change a gateway and the model in the same way. With several gateways on one
 * database, each request is sent to the next one.
 */
import type OpenAI from 'openai'
import { APIError } from 'openai'
import {
  deleteConversation,
  line,
  visible,
  type Answer,
  type Conversation,
  type Line,
  type Model,
} from './stored-objects-model.ts'

export interface Client {
  readonly ask: (previous: Answer | null) => Promise<void>
  readonly converse: (conversation: Conversation) => Promise<void>
  /** Sends the complete history of a chat and one more question. */
  readonly chat: (previous: Answer | null) => Promise<void>
  readonly createConversation: (count: number) => Promise<void>
  readonly addItems: (conversation: Conversation, count: number) => Promise<void>
  readonly hideItem: (conversation: Conversation, place: number) => Promise<void>
  readonly deleteConversation: (conversation: Conversation) => Promise<void>
  readonly deleteResponse: (response: Answer) => Promise<void>
  readonly deleteChat: (chat: Answer) => Promise<void>
}

export function clientOf(next: () => OpenAI, model: Model): Client {
  let count = 0
  /** The question contains the answer that the demo model returns (`/say …`). */
  const question = () => {
    count += 1
    const said = line('assistant', `answer ${count}`)
    return { asked: line('user', `question ${count}\n/say ${said.text}`), said }
  }
  const lines = (many: number): Line[] =>
    Array.from({ length: many }, () => line('user', `item ${(count += 1)}`))
  const inputs = (some: readonly Line[]) => some.map(({ role, text }) => ({ role, content: text }))

  const respond = async (
    before: readonly Line[],
    on: { previous_response_id?: string; conversation?: string },
    conversation: Conversation | null,
  ) => {
    const { asked, said } = question()
    const response = await next().responses.create({ model: 'demo', input: asked.text, ...on })
    model.responses.push({
      id: response.id,
      before: [...before, asked],
      said,
      conversation,
      isDeleted: false,
    })
    conversation?.lines.push(asked, said)
  }
  return {
    ask: (previous) =>
      previous === null
        ? respond([], {}, null)
        : respond([...previous.before, previous.said], { previous_response_id: previous.id }, null),
    converse: (conversation) =>
      respond([...conversation.lines], { conversation: conversation.id }, conversation),
    async chat(previous) {
      const { asked, said } = question()
      const before = previous === null ? [asked] : [...previous.before, previous.said, asked]
      const { id } = await next().chat.completions.create({
        model: 'demo',
        store: true,
        messages: inputs(before),
      })
      model.chats.push({ id, before, said, conversation: null, isDeleted: false })
    },
    async createConversation(many) {
      const own = lines(many)
      const { id } = await next().conversations.create({ items: inputs(own) })
      model.conversations.push({ id, lines: own, isDeleted: false })
    },
    async addItems({ id, lines: all }, many) {
      const own = lines(many)
      await next().conversations.items.create(id, { items: inputs(own) })
      all.push(...own)
    },
    async hideItem({ id, lines: all }, place) {
      const shown = all.filter(({ isHidden }) => !isHidden)
      const chosen = shown[place % Math.max(shown.length, 1)]
      if (chosen === undefined) return
      const items = await itemsOf(next(), id)
      const item = items[shown.indexOf(chosen)]
      await next().conversations.items.delete(item?.id ?? '', { conversation_id: id })
      chosen.isHidden = true
    },
    async deleteConversation(conversation) {
      await next().conversations.delete(conversation.id)
      deleteConversation(model, conversation)
    },
    async deleteResponse(response) {
      await next().responses.delete(response.id)
      response.isDeleted = true
    },
    async deleteChat(chat) {
      await next().chat.completions.delete(chat.id)
      chat.isDeleted = true
    },
  }
}

async function itemsOf(openai: OpenAI, id: string) {
  const items = []
  for await (const item of openai.conversations.items.list(id, { order: 'asc', limit: 7 })) {
    items.push(item)
  }
  return items
}

/** Reads all objects of the model from the gateway, in the format of the model. */
export async function readState(openai: OpenAI, model: Model): Promise<readonly unknown[]> {
  const responses = model.responses.map(async ({ id }) => {
    const { output_text } = await openai.responses.retrieve(id)
    const items = []
    for await (const item of openai.responses.inputItems.list(id, { order: 'asc', limit: 5 })) {
      items.push(item)
    }
    return [...items.map(textOf), `assistant: ${output_text}`]
  })
  const chats = model.chats.map(async ({ id }) => {
    const { choices } = await openai.chat.completions.retrieve(id)
    const messages = []
    for await (const message of openai.chat.completions.messages.list(id, { limit: 5 })) {
      messages.push(`${message.role as string}: ${message.content}`)
    }
    return [...messages, `assistant: ${choices[0]?.message.content}`]
  })
  const conversations = model.conversations.map(async ({ id }) =>
    (await itemsOf(openai, id)).map(textOf),
  )
  return Promise.all([...responses, ...chats, ...conversations].map(statusIfDeleted))
}

/** Returns the same state according to the model. */
export function expectedState({ responses, chats, conversations }: Model): readonly unknown[] {
  return [
    ...[...responses, ...chats].map(({ isDeleted, before, said }) =>
      isDeleted ? 404 : [...visible(before), `assistant: ${said.text}`],
    ),
    ...conversations.map(({ isDeleted, lines }) => (isDeleted ? 404 : visible(lines))),
  ]
}

function textOf(item: unknown): string {
  const { role, content } = item as { role: string; content: readonly { text: string }[] }
  return `${role}: ${content.map(({ text }) => text).join('')}`
}

async function statusIfDeleted(reading: Promise<unknown>): Promise<unknown> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof APIError) return error.status
    throw error
  }
}
