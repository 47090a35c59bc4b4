/**
 * Rules of the Messages API for compaction at a threshold: which requests may ask for it, and how its blocks
 * come back.
 */
import { isObject, type JsonObject } from '../../src/core/json/json.ts'
import { objects, type Law, type Request } from './anthropic-request.ts'

export const COMPACTION_BETA = 'compact-2026-01-12'

/** Returns the token threshold of a request for compaction; null without one. */
export function triggerIn(body: JsonObject): number | null {
  const trigger = editsIn(body)[0]?.['trigger']
  return isObject(trigger) ? Number(trigger['value']) : null
}

function editsIn({ context_management: managed }: JsonObject): readonly JsonObject[] {
  return isObject(managed) ? objects(managed['edits']) : []
}

export function isCompaction({ type }: JsonObject): boolean {
  return type === 'compaction'
}

/** Returns the messages from the latest compaction on; the API ignores those before it. */
export function readMessages<Message extends { readonly content: readonly JsonObject[] }>(
  messages: readonly Message[],
): readonly Message[] {
  const at = messages.findLastIndex(({ content }) => content.some(isCompaction))
  return messages.slice(Math.max(0, at)).map((message, index) => {
    if (at < 0 || index > 0) return message
    const { content } = message
    return { ...message, content: content.slice(content.findLastIndex(isCompaction)) }
  })
}

const edits: Law = ({ body, model }) => {
  if (body['context_management'] === undefined) return []
  const asked = editsIn(body)
  return [
    ...(asked.length === 1 && asked[0]?.['type'] === 'compact_20260112'
      ? []
      : ['context_management.edits: Input should be one compact_20260112']),
    ...((triggerIn(body) ?? 0) >= 50_000
      ? []
      : ['context_management.edits.0.trigger.value: Input should be at least 50000']),
    ...(/claude-(3|[a-z]+-4-[015]|haiku-4)/.test(model)
      ? ['context_management: compaction is not supported for this model']
      : []),
  ]
}

const blocks: Law = (request) => {
  const found = request.messages.flatMap(({ role, content }) =>
    content.filter(isCompaction).map((block) => ({ role, block })),
  )
  return [
    ...(found.length > 0 && editsIn(request.body).length === 0
      ? ['messages: `compaction` blocks require the compact_20260112 strategy']
      : []),
    ...found.flatMap(({ role, block }) => [
      ...(role === 'assistant' ? [] : ['messages: `compaction` block in a user message']),
      ...(typeof block['content'] === 'string' ? [] : ['messages: `compaction` without content']),
    ]),
  ]
}

/** True if the first message is the user's, or an assistant message that begins with a compaction. */
export function mayBegin({ messages }: Request): boolean {
  const [first] = messages
  const [block] = first?.content ?? []
  return first?.role === 'assistant' && block !== undefined && isCompaction(block)
}

export const COMPACTION_LAWS: readonly Law[] = [edits, blocks]
