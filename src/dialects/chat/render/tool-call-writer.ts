/**
 * Tells the calls of an answer. A chat client knows them by their number among the calls, which is
 * counted here: an item's own index counts everything that the model made.
 */
import type { ToolCall } from '../../../core/item.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import type { ChunkWriter } from './chunk-writer.ts'

export interface ToolCallWriter {
  readonly begin: (index: number, call: ToolCall) => void
  readonly input: (index: number, text: string) => void
  /** Tells what nobody told before. */
  readonly ended: (index: number, call: ToolCall) => void
  readonly count: () => number
}

interface Told {
  /** What stands in front of a piece of its input. */
  readonly before: string
  hasInput: boolean
}

export function createToolCallWriter(
  writer: ChunkWriter,
  send: (message: SseMessage) => void,
): ToolCallWriter {
  const calls = new Map<number, Told>()
  const self: ToolCallWriter = {
    begin(index, call) {
      if (calls.has(index)) return
      const number = calls.size
      const isCustom = call.type === 'custom_tool_call'
      const body = isCustom ? '"custom":{"input":' : '"function":{"arguments":'
      const before = `{"tool_calls":[{"index":${number},${body}`
      calls.set(index, { before, hasInput: false })
      send(writer.delta({ tool_calls: [begun(number, call)] }))
    },
    input(index, text) {
      const told = calls.get(index)
      if (told === undefined || text === '') return
      told.hasInput = true
      for (const message of writer.text(told.before, text, '}}]}')) send(message)
    },
    ended(index, call) {
      self.begin(index, call)
      const text = call.type === 'function_call' ? call.arguments : call.input
      if (calls.get(index)?.hasInput === false) self.input(index, text)
    },
    count: () => calls.size,
  }
  return self
}

function begun(index: number, { type, call_id: id, name }: ToolCall) {
  return type === 'function_call'
    ? { index, id, type: 'function', function: { name, arguments: '' } }
    : { index, id, type: 'custom', custom: { name, input: '' } }
}
