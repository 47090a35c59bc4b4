/**
 * Reasoning that a client sends back with a message: as text, under one of two names, or as
 * OpenRouter's details. None of it is OpenAI's, so that what has another shape is no error: it stays
 * with the message as one more unknown field.
 */
import { filterObjects, type ChatOnlyFields } from '../../../core/items/chat-only-fields.ts'
import type { Reasoning } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'

interface Parsed {
  readonly item: Reasoning | null
  /** The fields of the message that the item stands for. */
  readonly taken: readonly string[]
}

const NOTHING: Parsed = { item: null, taken: [] }
const TEXT_FIELDS = ['reasoning_content', 'reasoning'] as const

export function parseMessageReasoning(message: JsonObject): Parsed {
  const { reasoning_details: list } = message
  const details = filterObjects(list)
  const isWhole = Array.isArray(list) && list.length > 0 && details.length === list.length
  const field = TEXT_FIELDS.find(
    (name) => typeof message[name] === 'string' && message[name] !== '',
  )
  if (field === undefined && !isWhole) return NOTHING

  const said = field === undefined ? '' : message[field]
  const text = typeof said === 'string' ? said : ''
  // Some clients send the same text under both names, as some services do.
  const named = TEXT_FIELDS.filter((name) => field !== undefined && message[name] === text)
  const content = text === '' ? textsOf(details, 'text') : [text]
  const native: ChatOnlyFields = {
    ...(field === undefined ? {} : { $field: field }),
    ...(isWhole ? { reasoning_details: details } : {}),
  }
  const item: Reasoning = {
    type: 'reasoning',
    summary: textsOf(details, 'summary').map((summary) => ({
      type: 'summary_text',
      text: summary,
    })),
    ...(content.length === 0
      ? {}
      : { content: content.map((one) => ({ type: 'reasoning_text', text: one })) }),
    native: { chat: native },
  }
  return { item, taken: isWhole ? [...named, 'reasoning_details'] : named }
}

function textsOf(details: readonly JsonObject[], name: 'text' | 'summary'): readonly string[] {
  return details.flatMap((detail) => {
    const text = detail[name]
    return typeof text === 'string' && text !== '' ? [text] : []
  })
}
