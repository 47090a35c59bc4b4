/** The output of a tool, as the message that answers its call. */
import { readChatOnlyFields, readChatMessageFields } from '../../../core/items/chat-only-fields.ts'
import {
  sanitizeNoticeName,
  formatNotice,
  joinTextAndNotices,
} from '../../../core/text/gateway-notice.ts'
import { isGatewayToolItem } from '../../../core/items/gateway-tool-items.ts'
import { isText, type ToolCall, type ToolOutput } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { encodeContent, encodePart, isMediaPart, encodeNotice } from './encode-parts.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { CallWithOutput, PositionedItem } from './group-items-into-messages.ts'
import type { ChatMessage } from '../api-types.ts'

interface EncodedOutput {
  readonly message: ChatMessage
  /** What the upstream does not take from a tool, to be shown by the user. */
  readonly media: readonly JsonObject[]
}

/** `null` for a call that nobody answered. */
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

/** Made in the way of `functions`, where one call is answered by name and has no id. */
export function isLegacyFunctionCall(call: ToolCall): boolean {
  return readChatOnlyFields(call).$legacy === true
}

interface EncodedParts {
  readonly content: Json
  readonly media: readonly JsonObject[]
}

function encodeOutputParts(
  { at, item }: PositionedItem<ToolOutput>,
  name: string,
  { options, notes }: EncodingContext,
): EncodedParts {
  const { output } = item
  if (typeof output === 'string') return { content: output, media: [] }
  const context = { at, notes, partFields: readChatOnlyFields(item).$parts }
  // A client that writes in this language knows what its upstream takes, but not what the house says.
  const takesMedia = isGatewayToolItem(item) ? options.quirks.toolMedia === true : options.toolMedia
  const moved = takesMedia ? [] : output.filter(isMediaPart)
  if (moved.length === 0) return { content: encodeContent(output, context), media: [] }
  notes.write('tool-media-moved', { at })
  const texts = output.filter(isText)
  return {
    content:
      texts.length > 0
        ? joinTextAndNotices(texts)
        : formatNotice('The output follows in the next message.'),
    media: [
      encodeNotice(`What follows is output of the tool ${sanitizeNoticeName(name)}.`),
      ...moved.map((part) => encodePart(part, context)),
    ],
  }
}
