/** Blocks of the provider's own tools, and of the future. */
import type { Item } from '../../../core/item.ts'
import {
  listOrEmpty,
  tryParseJsonObject,
  textOrEmpty,
  type Json,
  type JsonObject,
} from '../../../core/json/json.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import { markIfIncomplete, type AnswerState, type StartedBlock } from './decoding-state.ts'
import type { ContentBlock } from '../api-types.ts'

/**
 * A block that the waist has no word for. Whatever its deltas add is gathered in it: text is
 * appended, JSON is parsed at the end, anything else replaces what was there.
 */
export function startOpaqueBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const index = answer.nextIndex++
  const block: Record<string, Json | undefined> = { ...start }
  let json = ''
  // The mark says whose block it is, when the type alone does not.
  const item = (): Item => ({ type: 'opaque', raw: { ...block }, native: { anthropic: {} } })
  return {
    events: [{ type: 'item-started', index, item: item() }],
    block: {
      delta({ type, ...fields }) {
        if (type === 'input_json_delta') json += textOrEmpty(fields['partial_json'])
        else if (type === 'citations_delta')
          block['citations'] = appended(block['citations'], fields)
        else for (const [field, value] of Object.entries(fields)) gather(block, field, value)
        return NO_OUTPUT
      },
      stop(isWhole) {
        const input = tryParseJsonObject(json)
        if (input !== null) block['input'] = input
        return [{ type: 'item-ended', index, item: markIfIncomplete(item(), isWhole) }]
      },
    },
  }
}

function gather(
  block: Record<string, Json | undefined>,
  field: string,
  value: Json | undefined,
): void {
  const before = block[field]
  block[field] = typeof before === 'string' && typeof value === 'string' ? before + value : value
}

function appended(list: Json | undefined, { citation }: JsonObject): Json {
  return citation === undefined ? listOrEmpty(list) : [...listOrEmpty(list), citation]
}
