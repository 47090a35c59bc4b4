/** Thinking: its text for people, and the block itself for the way back. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Reasoning } from '../../../core/item.ts'
import { textIn } from '../../../core/json/json.ts'
import { NOTHING } from '../../../core/stream/stage.ts'
import { ended, type Answer, type Opened } from './decoding-state.ts'
import { sealed } from '../pack-thinking-block.ts'
import type { Block } from '../api-types.ts'

export function openThinking(answer: Answer, start: Block): Opened {
  const index = answer.nextIndex++
  let thinking = ''
  let signature = textIn(start['signature'])
  const think = (text: string): readonly StreamEvent[] => {
    if (text === '') return NOTHING
    thinking += text
    return [{ type: 'reasoning-delta', index, channel: 'summary', part: 0, text }]
  }
  return {
    events: [
      { type: 'item-started', index, item: { type: 'reasoning', summary: [] } },
      ...think(textIn(start['thinking'])),
    ],
    block: {
      delta(delta) {
        if (delta['type'] === 'signature_delta') {
          signature += textIn(delta['signature'])
          return NOTHING
        }
        return think(textIn(delta['thinking']))
      },
      stop(isWhole) {
        const item = reasoning({ ...start, thinking, signature }, thinking)
        return [{ type: 'item-ended', index, item: ended(item, isWhole) }]
      },
    },
  }
}

export function openRedacted(answer: Answer, start: Block): Opened {
  const index = answer.nextIndex++
  const item = reasoning(start, '')
  return {
    events: [{ type: 'item-started', index, item: { type: 'reasoning', summary: [] } }],
    block: {
      delta: () => NOTHING,
      stop: (isWhole) => [{ type: 'item-ended', index, item: ended(item, isWhole) }],
    },
  }
}

/** The block is kept as it is. Thinking that nobody signed can be read, but not sent back. */
function reasoning(block: Block, text: string): Reasoning {
  const seal = sealed(block)
  return {
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(seal === null ? {} : { encrypted_content: seal, native: { anthropic: block } }),
  }
}
