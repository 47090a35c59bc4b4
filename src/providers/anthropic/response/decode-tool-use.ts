/** A call of one of the client's tools. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, textOrEmpty } from '../../../core/json/json.ts'
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
  const { name: called, isCustom } = answer.toolNames.get(textOrEmpty(name)) ?? {
    name: textOrEmpty(name),
    isCustom: false,
  }
  const common = {
    call_id: answer.callIdFor(textOrEmpty(id)),
    name: called,
    ...(Object.keys(rest).length === 0 ? {} : { native: { anthropic: rest } }),
  }
  const call = (text: string): Item =>
    isCustom
      ? { type: 'custom_tool_call', ...common, input: text }
      : { type: 'function_call', ...common, arguments: text }
  let json = ''
  return {
    events: [{ type: 'item-started', index, item: call('') }],
    block: {
      delta(delta) {
        const text = textOrEmpty(delta['partial_json'])
        json += text
        // The input of a custom tool is one string within the JSON: it is told when it is whole.
        return text === '' || isCustom ? NO_OUTPUT : [{ type: 'arguments-delta', index, text }]
      },
      stop(isWhole) {
        const late = json === '' && isWhole ? encodeStartInput(start) : ''
        const text = isCustom ? customInput(json + late) : json + late
        const untold = isCustom ? text : late
        const end: StreamEvent = {
          type: 'item-ended',
          index,
          item: markIfIncomplete(call(text), isWhole),
        }
        return untold === '' ? [end] : [{ type: 'arguments-delta', index, text: untold }, end]
      },
    },
  }
}

function customInput(json: string): string {
  try {
    const parsed: unknown = JSON.parse(json)
    if (isObject(parsed) && typeof parsed['input'] === 'string') return parsed['input']
  } catch {
    // Cut short or broken: better the JSON than nothing.
  }
  return json
}
