/**
 * Tells the items of an answer as deltas of the one message that a chat client knows. Deltas are
 * passed on as they come; what an item turns out to hold beyond them is told when it ends. Items
 * that chat has no word for are not told.
 */
import type { ReasoningDelta } from '../../../core/stream-event.ts'
import { isToolCall, textOf, type Item, type Message } from '../../../core/item.ts'
import type { Json } from '../../../core/json/json.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import { createNonTextDeltaWriter } from './non-text-delta-writer.ts'
import { createToolCallWriter } from './tool-call-writer.ts'
import type { ChunkWriter } from './chunk-writer.ts'
import { createJoinedTextWriter } from './joined-text-writer.ts'
import { MESSAGE_SEPARATOR, joinVisibleReasoning } from './join-visible-text.ts'

export interface ChatItemWriter {
  readonly started: (index: number, item: Item) => void
  readonly text: (index: number, text: string, logprobs?: readonly Json[]) => void
  readonly refusal: (index: number, text: string) => void
  readonly reasoning: (delta: Omit<ReasoningDelta, 'type'>) => void
  readonly input: (index: number, text: string) => void
  readonly ended: (index: number, item: Item) => void
  readonly hasCalls: () => boolean
}

export function createChatItemWriter(
  writer: ChunkWriter,
  isOpenWebUi: boolean,
  send: (message: SseMessage) => void,
): ChatItemWriter {
  const words = createJoinedTextWriter('content', MESSAGE_SEPARATOR, writer, send)
  const refusals = createJoinedTextWriter('refusal', '', writer, send)
  const thoughts = createJoinedTextWriter('reasoning_content', MESSAGE_SEPARATOR, writer, send)
  const calls = createToolCallWriter(writer, send)
  const asides = createNonTextDeltaWriter(writer, isOpenWebUi, send)
  /** The channel of an item's reasoning that is shown; the other would say the same once more. */
  const channels = new Map<number, ReasoningDelta['channel']>()

  const messageEnded = (index: number, { content }: Message): void => {
    const told = content.filter((part) => part.type !== 'refusal')
    const refused = content.filter((part) => part.type === 'refusal')
    if (!words.hasHeard(index)) words.say(index, 0, textOf(told))
    if (!refusals.hasHeard(index)) refusals.say(index, 0, textOf(refused))
  }

  return {
    started(index, item) {
      // Without a name there is nothing to tell yet.
      if (isToolCall(item) && item.name !== '') calls.begin(index, item)
    },
    text(index, text, logprobs) {
      words.say(index, 0, text)
      if (logprobs === undefined || logprobs.length === 0) return
      for (const message of writer.logprobs(logprobs)) send(message)
    },
    refusal: (index, text) => refusals.say(index, 0, text),
    reasoning({ index, channel, part, text }) {
      if (text === '') return
      const shown = channels.get(index)
      if (shown === undefined) channels.set(index, channel)
      if ((shown ?? channel) === channel) thoughts.say(index, part, text)
    },
    input: calls.input,
    ended(index, item) {
      if (item.type === 'message') messageEnded(index, item)
      else if (item.type === 'reasoning') {
        if (!thoughts.hasHeard(index)) thoughts.say(index, 0, joinVisibleReasoning([item]))
      } else if (isToolCall(item)) {
        calls.ended(index, item)
      }
      asides.ended(item, thoughts.hasSpoken())
    },
    hasCalls: () => calls.count() > 0,
  }
}
