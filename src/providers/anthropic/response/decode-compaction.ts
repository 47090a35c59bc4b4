/**
 * Decodes a compaction block into an item. Emits the item only when the block is complete, because
 * a client replaces all earlier messages by a compaction: if the compaction failed, these messages
 * would be lost.
 */
import type { Json } from '../../../core/json/json.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import type { AnswerState, StartedBlock } from './decoding-state.ts'
import { isCompactionBlock, packCompactionBlock } from '../pack-compaction-block.ts'
import type { ContentBlock } from '../api-types.ts'

export function startCompactionBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  let block: ContentBlock = start
  return {
    events: [],
    builder: {
      addDelta({ type: _type, content, ...fields }) {
        block = { ...block, ...fields, content: appendContent(block['content'], content) }
        return NO_OUTPUT
      },
      end(isComplete) {
        if (!isComplete || !isCompactionBlock(block)) return NO_OUTPUT
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

/**
 * Appends the content of a delta. A delta without `content` changes nothing; `null` means that the
 * compaction failed.
 */
function appendContent(before: Json | undefined, more: Json | undefined): Json | undefined {
  if (more === undefined) return before
  return typeof before === 'string' && typeof more === 'string' ? before + more : more
}
