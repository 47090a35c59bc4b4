/**
 * Writes the tool calls of an answer as chat deltas. The index of a call in Chat Completions counts
 * only calls, but the index of an item in an event counts all items.
 */
import type { ToolCall } from '../../../core/item.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'
import type { ChunkRenderer } from './chunk-renderer.ts'
import { renderToolCall } from './render-chat-completion.ts'

/** `index` is the index of the call among all items of the answer. */
export interface ToolCallWriter {
  readonly startCall: (index: number, call: ToolCall) => void
  readonly writeInput: (index: number, text: string) => void
  /** Writes the start and the input of a call, unless they were written before. */
  readonly endCall: (index: number, call: ToolCall) => void
  readonly countCalls: () => number
}

interface StartedCall {
  /**
   * The JSON of a delta for this call, up to the next piece of its input, e.g.
   * `{"tool_calls":[{"index":0,"function":{"arguments":`.
   */
  readonly before: string
  hasInput: boolean
}

export function createToolCallWriter(
  chunks: ChunkRenderer,
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
      const started = isCustom ? { ...call, input: '' } : { ...call, arguments: '' }
      send(chunks.renderDelta({ tool_calls: [{ index: callIndex, ...renderToolCall(started) }] }))
    },
    writeInput(index, text) {
      const call = calls.get(index)
      if (call === undefined || text === '') return
      call.hasInput = true
      for (const message of chunks.renderText(call.before, text, '}}]}')) send(message)
    },
    endCall(index, call) {
      self.startCall(index, call)
      const text = call.type === 'function_call' ? call.arguments : call.input
      if (calls.get(index)?.hasInput === false) self.writeInput(index, text)
    },
    countCalls: () => calls.size,
  }
  return self
}
