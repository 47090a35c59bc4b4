/**
 * A chat as a tree of questions and answers. Regenerating and editing add siblings; each request contains one
 * path through the tree.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { StoredItem } from './stored-item.ts'
import { toMessages, type ChatMessage } from './to-messages.ts'

export type Node = Question | AnswerNode

export interface Question {
  readonly kind: 'question'
  readonly id: string
  /** The answer before it. */
  readonly parent: string | null
  readonly text: string
  /** An uploaded picture as a data URL. */
  readonly image: string | null
  /** Text of a document, which precedes the question as long as that is the latest. */
  readonly document: string | null
  readonly fileId: string
}

export interface AnswerNode {
  readonly kind: 'answer'
  readonly id: string
  /** The question that it answers. */
  readonly parent: string
  readonly model: string
  readonly items: readonly StoredItem[]
  readonly error: string | null
}

export type Tree = ReadonlyMap<string, Node>

export function pathTo(tree: Tree, id: string | null): readonly Node[] {
  const path: Node[] = []
  for (let at = id; at !== null;) {
    const node = tree.get(at)
    if (node === undefined) throw new Error(`There is no message ${at}.`)
    path.push(node)
    at = node.parent
  }
  return path.toReversed()
}

export interface MessageOptions {
  readonly system: string | null
  readonly keepsReasoning: boolean
  /** The model whose `reasoning_details` are sent; null for all models. */
  readonly detailsOf?: string | null
  /** The question whose document is sent; later turns do not contain it. */
  readonly brings: string | null
}

export function messagesOf(path: readonly Node[], telling: MessageOptions): readonly ChatMessage[] {
  const { system, keepsReasoning, brings, detailsOf = null } = telling
  const keepDetails = (node: AnswerNode): readonly StoredItem[] =>
    detailsOf === null || node.model === detailsOf ? node.items : node.items.map(withoutDetails)
  const told = path.flatMap((node) =>
    node.kind === 'answer'
      ? toMessages(keepDetails(node), keepsReasoning)
      : [userMessage(node, node.id === brings)],
  )
  return system === null ? told : [{ role: 'system', content: system }, ...told]
}

function withoutDetails(item: StoredItem): StoredItem {
  return item.type === 'reasoning' ? { ...item, details: [] } : item
}

function userMessage(question: Question, bringsDocument: boolean): ChatMessage {
  const { text, image, document } = question
  if (image !== null) {
    const parts: readonly JsonObject[] = [
      { type: 'text', text: attachmentTag(question, 'image/png', 'a.png') },
      { type: 'text', text },
      { type: 'image_url', image_url: { url: image } },
    ]
    return { role: 'user', content: parts }
  }
  if (document === null) return { role: 'user', content: text }
  const asked = attachmentTag(question, 'text/plain', 'n.txt') + text
  return {
    role: 'user',
    content: bringsDocument ? documentContext(question, document) + asked : asked,
  }
}

function attachmentTag({ fileId }: Question, contentType: string, name: string): string {
  return `<attached_files>\n<file type="file" url="${fileId}" content_type="${contentType}" name="${name}"/>\n</attached_files>\n\n`
}

function documentContext({ fileId }: Question, document: string): string {
  return `### Task:\nRespond to the user query using the provided context, incorporating inline citations.\n\n<context>\n<source id="1" name="n.txt" resource-type="file" resource-id="${fileId}">${document}</source>\n</context>\n\n`
}
