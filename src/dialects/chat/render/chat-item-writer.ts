/**
 * Writes the items of an answer as deltas of one chat message. Deltas are forwarded as they arrive.
 * A part that had no delta is written when its item ends. Items that Chat Completions has no field
 * for are left out.
 */
import { isToolCall, textOf, type Item, type Message } from '../../../core/item.ts'
import { createReasoningDetail } from '../../../core/markers/reasoning-reference.ts'
import type { Json } from '../../../core/json/json.ts'
import type { ReasoningDelta } from '../../../core/stream-event.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'
import type { ChunkRenderer } from './chunk-renderer.ts'
import { MESSAGE_SEPARATOR, joinVisibleReasoning } from './join-visible-text.ts'
import { createNonTextDeltaWriter } from './non-text-delta-writer.ts'
import { createToolCallWriter } from './tool-call-writer.ts'

export interface TurnReferences {
  readonly turnId: string
  readonly isReady: () => boolean
}

/** Writes an answer item by item. `index` is the index of the item in the answer. */
export interface ChatItemWriter {
  readonly startItem: (index: number, item: Item) => void
  readonly writeText: (index: number, text: string, logprobs?: readonly Json[]) => void
  readonly writeRefusal: (index: number, text: string) => void
  readonly writeReasoning: (delta: Omit<ReasoningDelta, 'type'>) => void
  readonly writeToolInput: (index: number, text: string) => void
  readonly endItem: (index: number, item: Item) => void
  readonly hasCalls: () => boolean
  /** Writes the references of the turn that are due, if it may be named now. */
  readonly writeReferences: () => void
}

/** `references`: the turn to name beside visible reasoning, and whether it may be named now; null for other clients. */
export function createChatItemWriter(
  chunks: ChunkRenderer,
  isOpenWebUi: boolean,
  send: (message: SseMessage) => void,
  references: TurnReferences | null = null,
): ChatItemWriter {
  const content = createJoinedTextWriter('content', MESSAGE_SEPARATOR, chunks, send)
  const refusal = createJoinedTextWriter('refusal', '', chunks, send)
  const reasoning = createJoinedTextWriter('reasoning_content', MESSAGE_SEPARATOR, chunks, send)
  const calls = createToolCallWriter(chunks, send)
  const writeNonText = createNonTextDeltaWriter(chunks, isOpenWebUi, send)
  /**
   * The channel that is shown of each reasoning item, `summary` or `content`: the first of the two
   * that had a delta. Deltas of the other channel are dropped, because they repeat the same
   * reasoning.
   */
  const shownChannels = new Map<number, ReasoningDelta['channel']>()

  /** Indexes of visible reasoning items without a reference. */
  let unnamedReasoning: number[] = []
  const writeReferences = (): void => {
    if (references === null || unnamedReasoning.length === 0 || !references.isReady()) return
    const { turnId } = references
    const details = unnamedReasoning.map((itemIndex) =>
      createReasoningDetail({ turnId, itemIndex }),
    )
    unnamedReasoning = []
    send(chunks.renderDelta({ reasoning_details: details }))
  }

  const endMessage = (index: number, { content: parts }: Message): void => {
    const textParts = parts.filter((part) => part.type !== 'refusal')
    const refusalParts = parts.filter((part) => part.type === 'refusal')
    if (!content.hasTextOf(index)) content.write(index, 0, textOf(textParts))
    if (!refusal.hasTextOf(index)) refusal.write(index, 0, textOf(refusalParts))
  }

  return {
    startItem(index, item) {
      // A tool call starts with its name. If the name is not known yet, the call is written when
      // its item ends.
      if (isToolCall(item) && item.name !== '') calls.startCall(index, item)
    },
    writeText(index, text, logprobs) {
      content.write(index, 0, text)
      if (logprobs === undefined || logprobs.length === 0) return
      for (const message of chunks.renderLogprobs(logprobs)) send(message)
    },
    writeRefusal: (index, text) => refusal.write(index, 0, text),
    writeReasoning({ index, channel, part, text }) {
      if (text === '') return
      const shownChannel = shownChannels.get(index)
      if (shownChannel === undefined) shownChannels.set(index, channel)
      if ((shownChannel ?? channel) === channel) reasoning.write(index, part, text)
    },
    writeToolInput: calls.writeInput,
    endItem(index, item) {
      if (item.type === 'message') endMessage(index, item)
      else if (item.type === 'reasoning') {
        if (!reasoning.hasTextOf(index)) reasoning.write(index, 0, joinVisibleReasoning([item]))
        if (reasoning.hasTextOf(index)) unnamedReasoning.push(index)
      } else if (isToolCall(item)) {
        calls.endCall(index, item)
      }
      writeNonText(item, reasoning.hasText())
    },
    hasCalls: () => calls.countCalls() > 0,
    writeReferences,
  }
}

/**
 * Creates a writer that joins the texts of several items in one field of the message. It writes
 * `separator` before each new item or part, except the first.
 */
function createJoinedTextWriter(
  field: 'content' | 'refusal' | 'reasoning_content',
  separator: string,
  chunks: ChunkRenderer,
  send: (message: SseMessage) => void,
) {
  const before = `{"${field}":`
  /** The index of the part that was written last, by the index of its item. */
  const lastParts = new Map<number, number>()
  return {
    write(index: number, part: number, text: string): void {
      if (text === '') return
      const isNewPart = lastParts.get(index) !== part
      const separated = isNewPart && lastParts.size > 0 ? separator + text : text
      if (isNewPart) lastParts.set(index, part)
      for (const message of chunks.renderText(before, separated, '}')) send(message)
    },
    hasTextOf: (index: number) => lastParts.has(index),
    hasText: () => lastParts.size > 0,
  }
}
