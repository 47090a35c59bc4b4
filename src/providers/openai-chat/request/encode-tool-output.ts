/** The output of a tool, as the message that answers its call. */
import { chatNative, messageFields } from '../../../core/items/chat-only-fields.ts'
import { calledInNotice, noticeText, textWithNotices } from '../../../core/text/gateway-notice.ts'
import { isOfHouse } from '../../../core/items/gateway-tool-items.ts'
import { isText, type ToolCall, type ToolOutput } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { encodeContent, encodePart, isMedia, notice } from './encode-parts.ts'
import type { Encoding } from './encoding-context.ts'
import type { AnsweredCall, Placed } from './group-items-into-messages.ts'
import type { ChatMessage } from '../api-types.ts'

interface EncodedOutput {
  readonly message: ChatMessage
  /** What the upstream does not take from a tool, to be shown by the user. */
  readonly media: readonly JsonObject[]
}

/** `null` for a call that nobody answered. */
export function encodeOutput(
  { item: call, output }: AnsweredCall,
  id: string,
  encoding: Encoding,
): EncodedOutput | null {
  if (output === null) return null
  const { content, media } = encodeParts(output, call.name, encoding)
  const message: ChatMessage = isLegacy(call)
    ? { role: 'function', name: call.name, content }
    : { role: 'tool', ...messageFields(output.item), tool_call_id: id, content }
  return { message, media }
}

/** Made in the way of `functions`, where one call is answered by name and has no id. */
export function isLegacy(call: ToolCall): boolean {
  return chatNative(call).$legacy === true
}

interface EncodedParts {
  readonly content: Json
  readonly media: readonly JsonObject[]
}

function encodeParts(
  { at, item }: Placed<ToolOutput>,
  name: string,
  { options, notebook }: Encoding,
): EncodedParts {
  const { output } = item
  if (typeof output === 'string') return { content: output, media: [] }
  const context = { at, notebook, extras: chatNative(item).$parts }
  // A client that writes in this language knows what its upstream takes, but not what the house says.
  const takesMedia = isOfHouse(item) ? options.quirks.toolMedia === true : options.toolMedia
  const moved = takesMedia ? [] : output.filter(isMedia)
  if (moved.length === 0) return { content: encodeContent(output, context), media: [] }
  notebook.write('tool-media-moved', { at })
  const texts = output.filter(isText)
  return {
    content:
      texts.length > 0
        ? textWithNotices(texts)
        : noticeText('The output follows in the next message.'),
    media: [
      notice(`What follows is output of the tool ${calledInNotice(name)}.`),
      ...moved.map((part) => encodePart(part, context)),
    ],
  }
}
