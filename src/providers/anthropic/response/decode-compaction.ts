/**
 * What the API has made of the conversation so far, as an item of the answer. It is told when it is
 * whole, for one that failed is none: who took it at its word would lose what stands before it.
 */
import type { Json } from '../../../core/json/json.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import type { AnswerState, StartedBlock } from './decoding-state.ts'
import { isCompactionBlock, packCompactionBlock } from '../pack-compaction-block.ts'
import type { ContentBlock } from '../api-types.ts'

export function startCompactionBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  let block: ContentBlock = start
  return {
    events: [],
    block: {
      delta({ type: _type, content, ...fields }) {
        block = { ...block, ...fields, content: joined(block['content'], content) }
        return NO_OUTPUT
      },
      stop(isWhole) {
        if (!isWhole || !isCompactionBlock(block)) return NO_OUTPUT
        const index = answer.nextIndex++
        const item = packCompactionBlock(block)
        return [
          { type: 'item-started', index, item },
          { type: 'item-ended', index, item },
        ]
      },
    },
  }
}

/** What a delta says nothing of stays; one that says that there is none ends in failure. */
function joined(before: Json | undefined, more: Json | undefined): Json | undefined {
  if (more === undefined) return before
  return typeof before === 'string' && typeof more === 'string' ? before + more : more
}
