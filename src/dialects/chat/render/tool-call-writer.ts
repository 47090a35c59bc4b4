/**
 * Writes the tool calls of an answer as chat deltas. The index of a call in Chat Completions counts
 * only calls, but the index of an item in an event counts all items.
 */
import type { ToolCall } from '../../../core/item.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import type { ChunkWriter } from './chunk-writer.ts'

/** Writes the tool calls of an answer. `index` is the index of the item in the answer. */
export interface ToolCallWriter {
  readonly startCall: (index: number, call: ToolCall) => void
  readonly writeInput: (index: number, text: string) => void
  /** Writes the start and the input of a call, as far as they are not written yet. */
  readonly endCall: (index: number, call: ToolCall) => void
  readonly count: () => number
}

interface StartedCall {
  /** The JSON of a delta, up to its piece of the input. */
  readonly before: string
  hasInput: boolean
}

export function createToolCallWriter(
  writer: ChunkWriter,
  send: (message: SseMessage) => void,
): ToolCallWriter {
  const calls = new Map<number, StartedCall>()
  const self: ToolCallWriter = {
    startCall(index, call) {
      if (calls.has(index)) return
      const callIndex = calls.size
      const isCustom = call.type === 'custom_tool_call'
      const body = isCustom ? '"custom":{"input":' : '"function":{"arguments":'
      const before = `{"tool_calls":[{"index":${callIndex},${body}`
      calls.set(index, { before, hasInput: false })
      send(writer.delta({ tool_calls: [renderCallStart(callIndex, call)] }))
    },
    writeInput(index, text) {
      const call = calls.get(index)
      if (call === undefined || text === '') return
      call.hasInput = true
      for (const message of writer.text(call.before, text, '}}]}')) send(message)
    },
    endCall(index, call) {
      self.startCall(index, call)
      const text = call.type === 'function_call' ? call.arguments : call.input
      if (calls.get(index)?.hasInput === false) self.writeInput(index, text)
    },
    count: () => calls.size,
  }
  return self
}

function renderCallStart(index: number, { type, call_id: id, name }: ToolCall) {
  return type === 'function_call'
    ? { index, id, type: 'function', function: { name, arguments: '' } }
    : { index, id, type: 'custom', custom: { name, input: '' } }
}
