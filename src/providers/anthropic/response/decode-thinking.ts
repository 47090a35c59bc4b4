/** Thinking: its text for people, and the block itself for the way back. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Reasoning } from '../../../core/item.ts'
import { textOrEmpty } from '../../../core/json/json.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import { markIfIncomplete, type AnswerState, type StartedBlock } from './decoding-state.ts'
import { packThinkingBlock } from '../pack-thinking-block.ts'
import type { ContentBlock } from '../api-types.ts'

export function startThinkingBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const index = answer.nextIndex++
  let thinking = ''
  let signature = textOrEmpty(start['signature'])
  const think = (text: string): readonly StreamEvent[] => {
    if (text === '') return NO_OUTPUT
    thinking += text
    return [{ type: 'reasoning-delta', index, channel: 'summary', part: 0, text }]
  }
  return {
    events: [
      { type: 'item-started', index, item: { type: 'reasoning', summary: [] } },
      ...think(textOrEmpty(start['thinking'])),
    ],
    block: {
      delta(delta) {
        if (delta['type'] === 'signature_delta') {
          signature += textOrEmpty(delta['signature'])
          return NO_OUTPUT
        }
        return think(textOrEmpty(delta['thinking']))
      },
      stop(isWhole) {
        const item = reasoning({ ...start, thinking, signature }, thinking)
        return [{ type: 'item-ended', index, item: markIfIncomplete(item, isWhole) }]
      },
    },
  }
}

export function startRedactedThinkingBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const index = answer.nextIndex++
  const item = reasoning(start, '')
  return {
    events: [{ type: 'item-started', index, item: { type: 'reasoning', summary: [] } }],
    block: {
      delta: () => NO_OUTPUT,
      stop: (isWhole) => [{ type: 'item-ended', index, item: markIfIncomplete(item, isWhole) }],
    },
  }
}

/** The block is kept as it is. Thinking that nobody signed can be read, but not sent back. */
function reasoning(block: ContentBlock, text: string): Reasoning {
  const seal = packThinkingBlock(block)
  return {
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(seal === null ? {} : { encrypted_content: seal, native: { anthropic: block } }),
  }
}
