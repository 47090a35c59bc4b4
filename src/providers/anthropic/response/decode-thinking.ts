/**
 * Decodes thinking blocks into reasoning items. Each contains a summary for the user, and the
 * original block for later requests.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Reasoning } from '../../../core/item.ts'
import { textOrEmpty } from '../../../core/json/json.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import { markIfIncomplete, type AnswerState, type StartedBlock } from './decoding-state.ts'
import { packThinkingBlock } from '../pack-thinking-block.ts'
import type { ContentBlock } from '../api-types.ts'

export function startThinkingBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const index = answer.nextIndex++
  let thinking = ''
  let signature = textOrEmpty(start['signature'])
  const appendThinking = (text: string): readonly StreamEvent[] => {
    if (text === '') return NO_OUTPUT
    thinking += text
    return [{ type: 'reasoning-delta', index, channel: 'summary', part: 0, text }]
  }
  return {
    events: [
      { type: 'item-started', index, item: { type: 'reasoning', summary: [] } },
      ...appendThinking(textOrEmpty(start['thinking'])),
    ],
    builder: {
      addDelta(delta) {
        if (delta['type'] === 'signature_delta') {
          signature += textOrEmpty(delta['signature'])
          return NO_OUTPUT
        }
        return appendThinking(textOrEmpty(delta['thinking']))
      },
      end(isComplete) {
        const item = createReasoning({ ...start, thinking, signature }, thinking)
        return [{ type: 'item-ended', index, item: markIfIncomplete(item, isComplete) }]
      },
    },
  }
}

export function startRedactedThinkingBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const index = answer.nextIndex++
  const item = createReasoning(start, '')
  return {
    events: [{ type: 'item-started', index, item: { type: 'reasoning', summary: [] } }],
    builder: {
      addDelta: () => NO_OUTPUT,
      end: (isComplete) => [
        { type: 'item-ended', index, item: markIfIncomplete(item, isComplete) },
      ],
    },
  }
}

/**
 * Creates a reasoning item that contains the original block. If the block has no signature, the
 * item has only the text, because the API would reject the block.
 */
function createReasoning(block: ContentBlock, text: string): Reasoning {
  const packed = packThinkingBlock(block)
  return {
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(packed === null ? {} : { encrypted_content: packed, native: { anthropic: block } }),
  }
}
