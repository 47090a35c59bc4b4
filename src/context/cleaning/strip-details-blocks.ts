/**
 * Removes the blocks that Open WebUI before 0.10 wrote into assistant messages and still sends back: the
 * reasoning and the tool calls of a turn, as text. A model that reads them imitates them instead of calling
 * tools.
 */
import type { Message, Part, TextPart } from '../../core/item.ts'
import { editItems } from '../edit-items.ts'
import { mayContainDetailsBlock, removeDetailsBlocks } from './remove-details-from-text.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export function stripDetailsBlocks(): Transform {
  return {
    name: 'strip-details',
    needs: ITEM_TRAITS.detailsBlock,
    prefixStability: 'none',
    run: (items) =>
      editItems(items, (item) => {
        if (item.type !== 'message' || item.role !== 'assistant') return null
        const stripped = stripMessage(item)
        // A prompt needs at least one item, so a single message stays, even if it is empty.
        const isDropped = stripped !== item && stripped.content.length === 0 && items.length > 1
        return { item: isDropped ? null : stripped, why: 'details-removed' }
      }),
  }
}

/** Returns the same message if it contains no block. */
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
  // Annotations and logprobs refer to positions in the original text.
  const { annotations: _annotations, logprobs: _logprobs, ...rest } = part
  return { ...rest, text }
}
