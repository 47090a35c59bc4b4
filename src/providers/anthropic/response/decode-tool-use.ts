/** Decodes a call of one of the client's tools. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import { textOrEmpty, tryParseJsonObject } from '../../../core/json/json.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import {
  markIfIncomplete,
  encodeStartInput,
  type AnswerState,
  type StartedBlock,
} from './decoding-state.ts'
import type { ContentBlock } from '../api-types.ts'

export function startToolUseBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const index = answer.nextIndex++
  const { type: _type, id, name, input: _input, ...rest } = start
  const { name: toolName, isCustom } = answer.toolNames.get(textOrEmpty(name)) ?? {
    name: textOrEmpty(name),
    isCustom: false,
  }
  const common = {
    call_id: answer.chooseCallId(textOrEmpty(id)),
    name: toolName,
    ...(Object.keys(rest).length === 0 ? {} : { native: { anthropic: rest } }),
  }
  const createItem = (text: string): Item =>
    isCustom
      ? { type: 'custom_tool_call', ...common, input: text }
      : { type: 'function_call', ...common, arguments: text }
  let json = ''
  return {
    events: [{ type: 'item-started', index, item: createItem('') }],
    block: {
      addDelta(delta) {
        const text = textOrEmpty(delta['partial_json'])
        json += text
        // A custom tool's input is a string within JSON, so it is emitted only when the JSON is
        // complete.
        return text === '' || isCustom ? NO_OUTPUT : [{ type: 'arguments-delta', index, text }]
      },
      end(isComplete) {
        const startInput = json === '' && isComplete ? encodeStartInput(start) : ''
        const text = isCustom ? parseCustomInput(json + startInput) : json + startInput
        const remainingText = isCustom ? text : startInput
        const end: StreamEvent = {
          type: 'item-ended',
          index,
          item: markIfIncomplete(createItem(text), isComplete),
        }
        return remainingText === ''
          ? [end]
          : [{ type: 'arguments-delta', index, text: remainingText }, end]
      },
    },
  }
}

/** Returns the text in the field `input`, or the JSON itself if it is incomplete or invalid. */
function parseCustomInput(json: string): string {
  const input = tryParseJsonObject(json)?.['input']
  return typeof input === 'string' ? input : json
}
