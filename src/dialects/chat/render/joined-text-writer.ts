/**
 * One text of the message that a chat client knows, into which several items speak. An item that
 * begins, or another part of it, is parted by `between` from what was said before.
 */
import type { SseMessage } from '../../../core/stream/stage.ts'
import type { ChunkWriter } from './chunk-writer.ts'

export interface JoinedTextWriter {
  readonly say: (index: number, part: number, text: string) => void
  /** Whether the item has said something. */
  readonly hasHeard: (index: number) => boolean
  /** Whether anything was said at all. */
  readonly hasSpoken: () => boolean
}

export function createJoinedTextWriter(
  field: 'content' | 'refusal' | 'reasoning_content',
  between: string,
  writer: ChunkWriter,
  send: (message: SseMessage) => void,
): JoinedTextWriter {
  const before = `{"${field}":`
  /** The part of each item that spoke last. */
  const parts = new Map<number, number>()
  return {
    say(index, part, text) {
      if (text === '') return
      const isNew = parts.get(index) !== part
      const told = isNew && parts.size > 0 ? between + text : text
      if (isNew) parts.set(index, part)
      for (const message of writer.text(before, told, '}')) send(message)
    },
    hasHeard: (index) => parts.has(index),
    hasSpoken: () => parts.size > 0,
  }
}
