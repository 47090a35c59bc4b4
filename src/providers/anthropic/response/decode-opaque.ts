/** Decodes blocks of Anthropic's own tools, and blocks of unknown types, into opaque items. */
import type { Item } from '../../../core/item.ts'
import {
  listOrEmpty,
  tryParseJsonObject,
  textOrEmpty,
  type Json,
  type JsonObject,
} from '../../../core/json/json.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import { markIfIncomplete, type AnswerState, type StartedBlock } from './decoding-state.ts'
import type { ContentBlock } from '../api-types.ts'

/**
 * Decodes a block by merging its deltas into it: appends text, parses JSON at the end, and replaces
 * any other value.
 */
export function startOpaqueBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const index = answer.nextIndex++
  const block: Record<string, Json | undefined> = { ...start }
  let inputJson = ''
  // `native.anthropic` marks the item as Anthropic's, because the type of the block may not show
  // it.
  const createItem = (): Item => ({ type: 'opaque', raw: { ...block }, native: { anthropic: {} } })
  return {
    events: [{ type: 'item-started', index, item: createItem() }],
    builder: {
      addDelta({ type, ...fields }) {
        if (type === 'input_json_delta') inputJson += textOrEmpty(fields['partial_json'])
        else if (type === 'citations_delta')
          block['citations'] = appendCitation(block['citations'], fields)
        else for (const [field, value] of Object.entries(fields)) mergeField(block, field, value)
        return NO_OUTPUT
      },
      end(isComplete) {
        const input = tryParseJsonObject(inputJson)
        if (input !== null) block['input'] = input
        return [{ type: 'item-ended', index, item: markIfIncomplete(createItem(), isComplete) }]
      },
    },
  }
}

function mergeField(
  block: Record<string, Json | undefined>,
  field: string,
  value: Json | undefined,
): void {
  const before = block[field]
  block[field] = typeof before === 'string' && typeof value === 'string' ? before + value : value
}

function appendCitation(list: Json | undefined, { citation }: JsonObject): Json {
  return citation === undefined ? listOrEmpty(list) : [...listOrEmpty(list), citation]
}
