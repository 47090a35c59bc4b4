/**
 * Items as the chat messages that they were: one message for each of what was said to the model, and
 * one for what an assistant thought, said and called. Text in several parts is told whole and in parts.
 */
import {
  readChatOnlyFields,
  readChatMessageFields,
  filterObjects,
} from '../../../core/items/chat-only-fields.ts'
import { textOf, type Item, type Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { renderAssistantMessage } from './render-chat-completion.ts'

export function renderMessages(items: readonly Item[]): readonly JsonObject[] {
  const messages: JsonObject[] = []
  let assistant: Item[] = []
  const close = (): void => {
    if (assistant.length > 0) messages.push(renderAssistantMessage(assistant))
    assistant = []
  }
  for (const item of items) {
    const told = tellSaid(item)
    if (told === null) {
      if (beginsAnother(item, assistant)) close()
      assistant.push(item)
    } else {
      close()
      messages.push(told)
    }
  }
  close()
  return messages
}

/** A model thinks, then speaks, then calls: whatever steps back in this order is another message. */
function beginsAnother(item: Item, assistant: readonly Item[]): boolean {
  if (item.type !== 'message' && item.type !== 'reasoning') return false
  return assistant.some(({ type }) => type !== 'reasoning')
}

/** `null` for what belongs to a message of the assistant. */
function tellSaid(item: Item): JsonObject | null {
  switch (item.type) {
    case 'message':
      if (item.role === 'assistant') return null
      return { role: item.role, ...tellContent(item, item.content), ...readChatMessageFields(item) }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const content = tellContent(item, item.output)
      return {
        role: 'tool',
        tool_call_id: item.call_id,
        ...content,
        ...readChatMessageFields(item),
      }
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return null
  }
}

function tellContent(item: Item, content: string | readonly Part[]): JsonObject {
  const text = textOf(content)
  const extras = readChatOnlyFields(item).$parts
  if (typeof content === 'string') return { content: text, content_parts: null }
  if (extras === undefined && content.every(({ type }) => type === 'input_text')) {
    return { content: text, content_parts: null }
  }
  const fields = filterObjects(extras?.map((extra) => extra ?? {}))
  const parts = content.map((part, at) => ({ ...tellPart(part), ...fields[at] }))
  return { content: text === '' ? null : text, content_parts: parts }
}

function tellPart(part: Part): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal }
    case 'input_image': {
      const { image_url: url = null, detail } = part
      return { type: 'image_url', image_url: { url, ...(detail === undefined ? {} : { detail }) } }
    }
    case 'input_audio':
      return { type: 'input_audio', input_audio: part.input_audio }
    case 'input_file': {
      const { type: _type, ...file } = part
      return { type: 'file', file }
    }
    case 'opaque':
      return part.raw
  }
}
