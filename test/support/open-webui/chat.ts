/**
 * A chat as somebody leads it in Open WebUI: asks, regenerates, edits, goes back, continues, stops,
 * clones. Each of these changes the tree and sends what Open WebUI would send.
 */
import { randomUUID } from 'node:crypto'
import {
  messagesOf,
  pathTo,
  type AnswerNode,
  type Node,
  type Question,
  type Tree,
} from './chat-tree.ts'
import { askFor, runTask, type Account, type Round, type Stop, type TaskTold } from './client.ts'
import { NOWHERE, type Place } from './headers.ts'
import { shownText, type StoredItem } from './stored-item.ts'
import { taskOf, type TaskName } from './tasks.ts'
import type { ChatMessage } from './to-messages.ts'

/** An answer as it now stands in the tree, and the requests that it took. */
export interface Answered {
  readonly node: AnswerNode
  readonly rounds: readonly Round[]
}

export interface Asked {
  readonly image?: string
  readonly document?: string
  readonly stop?: Stop
}

export interface Chat {
  readonly id: () => string
  readonly tree: () => Tree
  /** The answer that the next question follows. */
  readonly head: () => string | null
  readonly ask: (text: string, asked?: Asked) => Promise<Answered>
  /** The same question to several models at once. The chat goes on with the first. */
  readonly askAll: (models: readonly string[], text: string) => Promise<readonly Answered[]>
  readonly regenerate: (suggestion?: string, stop?: Stop) => Promise<Answered>
  /** Puts the newest question in other words, in a branch of its own. */
  readonly editQuestion: (text: string, stop?: Stop) => Promise<Answered>
  /** Changes what the last text of an answer says; nothing is sent. */
  readonly editAnswer: (edit: (text: string) => string) => void
  readonly goTo: (answerId: string) => void
  readonly goOn: (stop?: Stop) => Promise<Answered>
  /** The same messages under a new chat id. A copy of what was shared has another owner. */
  readonly clone: (owner?: Account) => Chat
  readonly task: (name: TaskName, isAnswerShown?: boolean) => Promise<TaskTold>
}

export interface Opening {
  readonly account: Account
  readonly model: string
  readonly system?: string
  /** `local:…` is a temporary chat. */
  readonly id?: string
  readonly tree?: Tree
  readonly head?: string | null
}

export function openChat(opening: Opening): Chat {
  const { account, model, system = null, id: chatId = randomUUID() } = opening
  const tree = new Map<string, Node>(opening.tree)
  let head = opening.head ?? null

  const placeOf = (message: string, question: Question): Place => ({
    chat: chatId,
    message,
    userMessage: question.id,
    userParent: question.parent ?? '',
    task: '',
  })

  async function answer(question: Question, wish: Wish = {}): Promise<Answered> {
    const { by = model, id = randomUUID(), kept = [], suggestion, stop } = wish
    tree.set(question.id, question)
    const telling = { system, keepsReasoning: account.keepsReasoning, brings: question.id }
    const messages = messagesOf(pathTo(tree, question.id), telling)
    const told = await askFor(account, {
      model: by,
      messages: [...messages, ...suggested(suggestion)],
      kept,
      place: placeOf(id, question),
      stop,
    })
    const { items, error, rounds } = told
    const node: AnswerNode = { kind: 'answer', id, parent: question.id, model: by, items, error }
    tree.set(id, node)
    head = id
    return { node, rounds }
  }

  const current = (): AnswerNode => {
    const node = head === null ? undefined : tree.get(head)
    if (node?.kind !== 'answer') throw new Error('There is no answer yet.')
    return node
  }
  const questionOf = ({ parent }: AnswerNode): Question => {
    const question = tree.get(parent)
    if (question?.kind !== 'question') throw new Error(`There is no question ${parent}.`)
    return question
  }

  return {
    id: () => chatId,
    tree: () => tree,
    head: () => head,
    ask: (text, { stop, ...more } = {}) => answer(newQuestion(head, text, more), { stop }),
    async askAll(models, text) {
      const question = newQuestion(head, text, {})
      const told = await Promise.all(models.map((by) => answer(question, { by })))
      head = told[0]?.node.id ?? head
      return told
    },
    regenerate(suggestion, stop) {
      const node = current()
      return answer(questionOf(node), { suggestion, stop, by: node.model })
    },
    editQuestion(text, stop) {
      const node = current()
      const question = newQuestion(questionOf(node).parent, text, {})
      return answer(question, { stop, by: node.model })
    },
    editAnswer(edit) {
      const node = current()
      tree.set(node.id, { ...node, items: edited(node.items, edit) })
    },
    goTo: (answerId) => void (head = answerId),
    goOn(stop) {
      const node = current()
      const { id, items: kept, model: by } = node
      return answer(questionOf(node), { id, kept, by, stop })
    },
    clone: (owner = account) =>
      openChat({ ...opening, account: owner, id: randomUUID(), tree, head }),
    task(name, isAnswerShown = false) {
      const question = head === null ? null : questionOf(current())
      const history = historyText(pathTo(tree, head), isAnswerShown)
      const place = question === null ? { ...NOWHERE, chat: chatId } : placeOf('', question)
      return runTask(account, model, taskOf(name, history), { ...place, task: name })
    },
  }
}

interface Wish {
  readonly by?: string
  readonly id?: string
  readonly kept?: readonly StoredItem[]
  readonly suggestion?: string | undefined
  readonly stop?: Stop | undefined
}

function suggested(suggestion: string | undefined): readonly ChatMessage[] {
  return suggestion === undefined ? [] : [{ role: 'user', content: suggestion }]
}

function newQuestion(parent: string | null, text: string, more: Asked): Question {
  const { image = null, document = null } = more
  const named = { id: randomUUID(), fileId: randomUUID() }
  return { kind: 'question', parent, text, image, document, ...named }
}

/** An answer that has no text yet gets one. */
function edited(
  items: readonly StoredItem[],
  edit: (text: string) => string,
): readonly StoredItem[] {
  const at = items.findLastIndex(({ type }) => type === 'message')
  const item = items[at]
  if (item?.type !== 'message') return [...items, { type: 'message', text: edit('') }]
  return items.with(at, { ...item, text: edit(item.text) })
}

function historyText(path: readonly Node[], isAnswerShown: boolean): string {
  return path
    .map((node) =>
      node.kind === 'question'
        ? `USER: ${node.text}`
        : `ASSISTANT: ${isAnswerShown ? shownText(node.items) : ''}`,
    )
    .join('\n')
}
