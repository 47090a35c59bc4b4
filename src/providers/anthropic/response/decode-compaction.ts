/**
 * Decodes a compaction block into an item. The item is emitted only when it is complete: if a
 * failed compaction became an item, a client that relied on it would lose all earlier messages.
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
 * Appends a delta's content. A delta without `content` changes nothing; `null` marks the compaction
 * as failed.
 */
function appendContent(before: Json | undefined, more: Json | undefined): Json | undefined {
  if (more === undefined) return before
  return typeof before === 'string' && typeof more === 'string' ? before + more : more
}
