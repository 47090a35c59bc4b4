/**
 * A user's chat in Open WebUI: ask, regenerate, edit, go back, continue, stop and clone. Each action changes
 * the tree and sends the requests that Open WebUI would send.
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
import {
  requestAnswer,
  runTask,
  type Account,
  type Round,
  type Stop,
  type TaskResult,
} from './client.ts'
import { NO_POSITION, type ChatPosition } from './headers.ts'
import { shownText, type StoredItem } from './stored-item.ts'
import { taskOf, type TaskName } from './tasks.ts'
import type { ChatMessage } from './to-messages.ts'

/** An answer as it is now in the tree, and the requests for it. */
export interface ChatAnswer {
  readonly node: AnswerNode
  readonly rounds: readonly Round[]
}

export interface QuestionOptions {
  readonly image?: string
  readonly document?: string
  readonly stop?: Stop
}

export interface Chat {
  readonly id: () => string
  readonly tree: () => Tree
  /** The answer before the next question. */
  readonly head: () => string | null
  readonly ask: (text: string, asked?: QuestionOptions) => Promise<ChatAnswer>
  /** Sends the same question to several models at once. The chat continues with the first. */
  readonly askAll: (models: readonly string[], text: string) => Promise<readonly ChatAnswer[]>
  readonly regenerate: (suggestion?: string, stop?: Stop) => Promise<ChatAnswer>
  /** Edits the latest question, in a new branch. */
  readonly editQuestion: (text: string, stop?: Stop) => Promise<ChatAnswer>
  /** Changes the last text of an answer without a request. */
  readonly editAnswer: (edit: (text: string) => string) => void
  /** Deletes items of an answer with the buttons of the edit box; of a call, the output too. */
  readonly deleteItems: (isDeleted: (item: StoredItem) => boolean) => void
  readonly goTo: (answerId: string) => void
  readonly continueAnswer: (stop?: Stop) => Promise<ChatAnswer>
  /** Copies the messages to a new chat id. A copy of a shared chat has another owner. */
  readonly clone: (owner?: Account) => Chat
  readonly task: (name: TaskName, isAnswerShown?: boolean) => Promise<TaskResult>
}

export interface ChatOptions {
  readonly account: Account
  readonly model: string
  readonly system?: string
  /** `temporary:…`, until 0.10 `local:…`, is a temporary chat. */
  readonly id?: string
  readonly tree?: Tree
  readonly head?: string | null
}

export function openChat(opening: ChatOptions): Chat {
  const { account, model, system = null, id: chatId = randomUUID() } = opening
  const tree = new Map<string, Node>(opening.tree)
  let head = opening.head ?? null

  const placeOf = (message: string, question: Question): ChatPosition => ({
    chat: chatId,
    message,
    userMessage: question.id,
    userParent: question.parent ?? '',
    task: '',
  })

  async function answer(question: Question, wish: AnswerOptions = {}): Promise<ChatAnswer> {
    const { by = model, id = randomUUID(), kept = [], suggestion, stop } = wish
    tree.set(question.id, question)
    const detailsOf = account.sendsDetailsOfOtherModels === true ? null : by
    const { keepsReasoning } = account
    const telling = { system, keepsReasoning, brings: question.id, detailsOf }
    const showsAnswer = suggestion !== undefined && account.sendsRevisedAnswer === true
    const path = pathTo(tree, showsAnswer ? head : question.id)
    const messages = messagesOf(path, telling)
    const told = await requestAnswer(account, {
      model: by,
      messages: [...messages, ...suggestionMessages(suggestion)],
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
      tree.set(node.id, { ...node, items: editLastText(node.items, edit) })
    },
    deleteItems(isDeleted) {
      const node = current()
      const callIds = new Set(
        node.items.flatMap((item) =>
          item.type === 'function_call' && isDeleted(item) ? [item.callId] : [],
        ),
      )
      const items = node.items.filter(
        (item) => !isDeleted(item) && !('callId' in item && callIds.has(item.callId)),
      )
      tree.set(node.id, { ...node, items })
    },
    goTo: (answerId) => void (head = answerId),
    continueAnswer(stop) {
      const node = current()
      const { id, items: kept, model: by } = node
      return answer(questionOf(node), { id, kept, by, stop })
    },
    clone: (owner = account) =>
      openChat({ ...opening, account: owner, id: randomUUID(), tree, head }),
    task(name, isAnswerShown = false) {
      const question = head === null ? null : questionOf(current())
      const history = historyText(pathTo(tree, head), isAnswerShown)
      const place = question === null ? { ...NO_POSITION, chat: chatId } : placeOf('', question)
      return runTask(account, model, taskOf(name, history), { ...place, task: name })
    },
  }
}

interface AnswerOptions {
  readonly by?: string
  readonly id?: string
  readonly kept?: readonly StoredItem[]
  readonly suggestion?: string | undefined
  readonly stop?: Stop | undefined
}

function suggestionMessages(suggestion: string | undefined): readonly ChatMessage[] {
  return suggestion === undefined ? [] : [{ role: 'user', content: suggestion }]
}

function newQuestion(parent: string | null, text: string, more: QuestionOptions): Question {
  const { image = null, document = null } = more
  const named = { id: randomUUID(), fileId: randomUUID() }
  return { kind: 'question', parent, text, image, document, ...named }
}

/** Adds a text to an answer that has none. */
function editLastText(
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
