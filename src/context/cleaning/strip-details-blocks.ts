/**
 * Takes out of an assistant's words what Open WebUI wrote into them before 0.10: the reasoning and the
 * tool calls of a turn, as blocks that it sends back as text to this day. A model that reads them takes
 * them for its own way of calling tools, and imitates it.
 */
import type { Item, Message, Part, TextPart } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import { mayContainDetailsBlock, removeDetailsBlocks } from './remove-details-from-text.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export function stripDetailsBlocks(): Transform {
  return {
    name: 'strip-details',
    needs: ITEM_TRAITS.detailsBlock,
    prefixStability: 'none',
    run(items) {
      const notes: Note[] = []
      const kept: Item[] = []
      for (const [at, item] of items.entries()) {
        const left = item.type === 'message' && item.role === 'assistant' ? stripped(item) : item
        // Of a list that is nothing else, something has to be sent.
        const isDropped = left !== item && hasNothing(left) && items.length > 1
        if (!isDropped) kept.push(left)
        if (left !== item) {
          notes.push({ did: isDropped ? 'dropped' : 'changed', at, why: 'details-removed' })
        }
      }
      return notes.length === 0 ? { items, notes } : { items: kept, notes }
    },
  }
}

function hasNothing(item: Item): boolean {
  return item.type === 'message' && item.content.length === 0
}

/** The same message, if there is no such block in it. */
function stripped(message: Message): Message {
  if (!message.content.some((part) => isText(part) && mayContainDetailsBlock(part.text)))
    return message
  const content = message.content.flatMap((part) => (isText(part) ? strippedPart(part) : part))
  const isSame =
    content.length === message.content.length &&
    content.every((part, at) => part === message.content[at])
  return isSame ? message : { ...message, content }
}

function isText(part: Part): part is TextPart {
  return part.type === 'output_text' || part.type === 'input_text'
}

function strippedPart(part: TextPart): TextPart | readonly [] {
  const text = removeDetailsBlocks(part.text)
  if (text === part.text) return part
  if (text === '') return []
  // They point at places in a text that is not that any more.
  const { annotations: _annotations, logprobs: _logprobs, ...rest } = part
  return { ...rest, text }
}
