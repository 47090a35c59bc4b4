/**
 * Reads the reasoning that a client sends back with an assistant message: a text
 * (`reasoning_content` or `reasoning`), or OpenRouter's `reasoning_details`. OpenAI's API has none
 * of these fields, so a value of another type is not an error: it is stored as an unknown field of
 * the message.
 */
import { filterObjects, type ChatOnlyFields } from '../../../core/items/chat-only-fields.ts'
import {
  parseReasoningReferences,
  removeReasoningReferences,
  type ReasoningReference,
} from '../../../core/markers/reasoning-reference.ts'
import type { Reasoning } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'

interface ParsedReasoning {
  readonly item: Reasoning | null
  /** Names of the message fields whose content the reasoning item contains. */
  readonly usedFields: readonly string[]
  /** The turns that the gateway named beside the message's reasoning. */
  readonly references: readonly ReasoningReference[]
}

const TEXT_FIELDS = ['reasoning_content', 'reasoning'] as const

export function parseMessageReasoning(message: JsonObject): ParsedReasoning {
  const { reasoning_details: allDetails } = message
  const references = parseReasoningReferences(allDetails)
  const list = Array.isArray(allDetails) ? removeReasoningReferences(allDetails) : allDetails
  // Only references are left out: an empty list that the client sends is kept as an unknown field.
  const isEmptied = list !== allDetails && Array.isArray(list) && list.length === 0
  const details = filterObjects(list)
  const hasDetails = Array.isArray(list) && list.length > 0 && details.length === list.length
  const field = TEXT_FIELDS.find(
    (name) => typeof message[name] === 'string' && message[name] !== '',
  )
  const detailFields = hasDetails || isEmptied ? ['reasoning_details'] : []
  if (field === undefined && !hasDetails)
    return { item: null, usedFields: detailFields, references }

  const value = field === undefined ? '' : message[field]
  const text = typeof value === 'string' ? value : ''
  // `reasoning_content` and `reasoning` are both listed in `usedFields` if they have the same text:
  // some services and clients send it twice.
  const textFields = TEXT_FIELDS.filter((name) => field !== undefined && message[name] === text)
  const content = text === '' ? collectTexts(details, 'text') : [text]
  const native: ChatOnlyFields = {
    ...(field === undefined ? {} : { $field: field }),
    ...(hasDetails ? { reasoning_details: details } : {}),
  }
  const item: Reasoning = {
    type: 'reasoning',
    summary: collectTexts(details, 'summary').map((part) => ({ type: 'summary_text', text: part })),
    ...(content.length === 0
      ? {}
      : { content: content.map((part) => ({ type: 'reasoning_text', text: part })) }),
    native: { chat: native },
  }
  return { item, usedFields: [...textFields, ...detailFields], references }
}

function collectTexts(details: readonly JsonObject[], name: 'text' | 'summary'): readonly string[] {
  return details.flatMap((detail) => {
    const text = detail[name]
    return typeof text === 'string' && text !== '' ? [text] : []
  })
}
