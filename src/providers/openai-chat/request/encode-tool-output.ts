/** Encodes a tool output as the message that follows its call. */
import { readChatOnlyFields, readChatMessageFields } from '../../../core/items/chat-only-fields.ts'
import {
  sanitizeNoticeName,
  formatNotice,
  joinTextAndNotices,
} from '../../../core/text/gateway-notice.ts'
import { isGatewayToolItem } from '../../../core/items/gateway-tool-items.ts'
import { isTextOrRefusal, type ToolCall, type ToolOutput } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { encodeContent, encodePart, isMediaPart, encodeNotice } from './encode-parts.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { CallWithOutput, PositionedItem } from './group-items-into-messages.ts'
import type { ChatMessage } from '../api-types.ts'

interface EncodedOutput {
  readonly message: ChatMessage
  /**
   * The media that the upstream does not accept in a tool message. The caller sends them in a user
   * message.
   */
  readonly media: readonly JsonObject[]
}

/** Encodes the output of a call. Returns null if there is none. */
export function encodeToolOutput(
  { item: call, output }: CallWithOutput,
  id: string,
  encoding: EncodingContext,
): EncodedOutput | null {
  if (output === null) return null
  const { content, media } = encodeOutputParts(output, call.name, encoding)
  const message: ChatMessage = isLegacyFunctionCall(call)
    ? { role: 'function', name: call.name, content }
    : { role: 'tool', ...readChatMessageFields(output.item), tool_call_id: id, content }
  return { message, media }
}

/**
 * True for a call in the deprecated form `function_call`, which has no id. Its output contains the
 * name of the function instead.
 */
export function isLegacyFunctionCall(call: ToolCall): boolean {
  return readChatOnlyFields(call).$legacy === true
}

function encodeOutputParts(
  { itemIndex, item }: PositionedItem<ToolOutput>,
  name: string,
  { options, notes }: EncodingContext,
): { readonly content: Json; readonly media: readonly JsonObject[] } {
  const { output } = item
  if (typeof output === 'string') return { content: output, media: [] }
  const context = { itemIndex, notes, partFields: readChatOnlyFields(item).$parts }
  // A Chat Completions client is assumed to know which media its upstream accepts. Outputs of
  // gateway tools do not come from the client, so a quirk must allow their media.
  const takesMedia = isGatewayToolItem(item) ? options.quirks.toolMedia === true : options.toolMedia
  const movedMedia = takesMedia ? [] : output.filter(isMediaPart)
  if (movedMedia.length === 0) return { content: encodeContent(output, context), media: [] }
  notes.write('tool-media-moved', { itemIndex })
  const texts = output.filter(isTextOrRefusal)
  return {
    content:
      texts.length > 0
        ? joinTextAndNotices(texts)
        : formatNotice('The output follows in the next message.'),
    media: [
      encodeNotice(`What follows is output of the tool ${sanitizeNoticeName(name)}.`),
      ...movedMedia.map((part) => encodePart(part, context)),
    ],
  }
}
