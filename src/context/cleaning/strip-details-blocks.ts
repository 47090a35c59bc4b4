/**
 * Removes `<details type="…">` blocks from assistant messages. Open WebUI before 0.10 wrote reasoning and tool calls
 * into messages that way, and still sends them back. A model that reads such blocks imitates them instead of
 * calling tools.
 */
import type { Message, Part, TextPart } from '../../core/item.ts'
import { editItems } from '../edit-items.ts'
import {
  mayContainDetailsBlock,
  removeDetailsBlocks,
} from '../../core/text/remove-details-blocks.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

export function stripDetailsBlocks(): Transform {
  return {
    name: 'strip-details',
    requiredTraits: ITEM_TRAITS.detailsBlock,
    prefixChanges: 'never',
    run: (items) =>
      editItems(items, (item) => {
        if (item.type !== 'message' || item.role !== 'assistant') return null
        const stripped = stripMessage(item)
        // A prompt needs at least one item. So a message that is the only item stays, even if it becomes empty.
        const isDropped = stripped !== item && stripped.content.length === 0 && items.length > 1
        return { replacement: isDropped ? null : stripped, why: 'details-removed' }
      }),
  }
}

/** Removes the `<details>` blocks from a message. Returns the same message if it contains none. */
function stripMessage(message: Message): Message {
  if (!message.content.some((part) => isText(part) && mayContainDetailsBlock(part.text)))
    return message
  const content = message.content.flatMap((part) => (isText(part) ? stripPart(part) : part))
  const isSame =
    content.length === message.content.length &&
    content.every((part, index) => part === message.content[index])
  return isSame ? message : { ...message, content }
}

function isText(part: Part): part is TextPart {
  return part.type === 'output_text' || part.type === 'input_text'
}

function stripPart(part: TextPart): TextPart | readonly [] {
  const text = removeDetailsBlocks(part.text)
  if (text === part.text) return part
  if (text === '') return []
  // Annotations and logprobs refer to positions in the original text and would be wrong for the new text.
  const { annotations: _annotations, logprobs: _logprobs, ...rest } = part
  return { ...rest, text }
}
