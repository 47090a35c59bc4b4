/** Decodes a call of a tool of the client, in contrast to Anthropic's own tools. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import { textOrEmpty } from '../../../core/json/json.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import {
  markIfIncomplete,
  readStartEventInput,
  type AnswerState,
  type StartedBlock,
} from './decoding-state.ts'
import type { ContentBlock } from '../api-types.ts'
import { unwrapCustomToolInput } from '../../wrap-custom-tool-input.ts'
import { createToolCall } from '../../response/map-encoded-tool-names.ts'

export function startToolUseBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const index = answer.nextIndex++
  const { type: _type, id, name, input: _input, ...rest } = start
  const sentName = textOrEmpty(name)
  const tool = answer.toolNames.get(sentName) ?? { name: sentName, isCustom: false }
  const { isCustom } = tool
  const callId = answer.createCallId(textOrEmpty(id))
  const native = Object.keys(rest).length === 0 ? {} : { native: { anthropic: rest } }
  const createItem = (text: string): Item => ({ ...createToolCall(callId, tool, text), ...native })
  let json = ''
  return {
    events: [{ type: 'item-started', index, item: createItem('') }],
    builder: {
      addDelta(delta) {
        const text = textOrEmpty(delta['partial_json'])
        json += text
        // The input of a custom tool is a string within the JSON, so it is emitted when the JSON is
        // complete.
        return text === '' || isCustom ? NO_OUTPUT : [{ type: 'arguments-delta', index, text }]
      },
      end(isComplete) {
        const startInput = json === '' && isComplete ? readStartEventInput(start) : ''
        const text = isCustom ? unwrapCustomToolInput(json + startInput) : json + startInput
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
