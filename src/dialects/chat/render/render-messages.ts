/**
 * Renders stored items as chat messages: one for each input message and each tool output, and one
 * for the reasoning, text and tool calls of an assistant. Text in several parts is rendered twice:
 * as one text (`content`) and as parts (`content_parts`).
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
  const endAssistantMessage = (): void => {
    if (assistant.length > 0) messages.push(renderAssistantMessage(assistant))
    assistant = []
  }
  for (const item of items) {
    const message = renderInputMessage(item)
    if (message === null) {
      if (startsNewMessage(item, assistant)) endAssistantMessage()
      assistant.push(item)
    } else {
      endAssistantMessage()
      messages.push(message)
    }
  }
  endAssistantMessage()
  return messages
}

/**
 * True if an item starts a new message. A message contains reasoning, text and tool calls in this
 * order, so text after a call, for example, starts a new message.
 */
function startsNewMessage(item: Item, assistant: readonly Item[]): boolean {
  if (item.type !== 'message' && item.type !== 'reasoning') return false
  return assistant.some(({ type }) => type !== 'reasoning')
}

/**
 * Renders an input message or a tool output; returns `null` for an item that is part of an
 * assistant message.
 */
function renderInputMessage(item: Item): JsonObject | null {
  switch (item.type) {
    case 'message':
      if (item.role === 'assistant') return null
      return {
        role: item.role,
        ...renderContent(item, item.content),
        ...readChatMessageFields(item),
      }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return {
        role: 'tool',
        tool_call_id: item.call_id,
        ...renderContent(item, item.output),
        ...readChatMessageFields(item),
      }
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return null
  }
}

function renderContent(item: Item, content: string | readonly Part[]): JsonObject {
  const text = textOf(content)
  const extras = readChatOnlyFields(item).$parts
  if (typeof content === 'string') return { content: text, content_parts: null }
  if (extras === undefined && content.every(({ type }) => type === 'input_text')) {
    return { content: text, content_parts: null }
  }
  const fields = filterObjects(extras?.map((extra) => extra ?? {}))
  const parts = content.map((part, index) => ({ ...renderPart(part), ...fields[index] }))
  return { content: text === '' ? null : text, content_parts: parts }
}

function renderPart(part: Part): JsonObject {
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
