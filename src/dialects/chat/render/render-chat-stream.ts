/**
 * Renders the events of an answer as chat chunks: deltas of one message, a finish reason, the usage
 * if the client requested it, and `[DONE]`. A failed answer ends with an error chunk without
 * choices.
 *
 * Open WebUI always gets the usage, because it shows it but usually does not request it. Open WebUI
 * also removes `<think>` and similar tags from the text of an answer. The gateway sends such tags
 * unchanged, because escaping them would corrupt code and sentences about these tags.
 */
import type { Outcome } from '../../../core/collect-answer-outcome.ts'
import { isObject } from '../../../core/json/json.ts'
import type { AnswerContext, AnswerRenderer } from '../../../core/ports/dialect-interface.ts'
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import { completionId } from '../../../core/turn-derived-ids.ts'
import { createChatItemWriter, type ChatItemWriter } from './chat-item-writer.ts'
import { createChunkRenderer, type ChunkRenderer } from './chunk-renderer.ts'
import { renderStreamError } from './render-stream-error.ts'
import { renderChatUsage, renderFinishReason } from './shared-answer-fields.ts'

export function createChatStreamRenderer(answerContext: AnswerContext): AnswerRenderer {
  const { clientRequest, turnId, createdAtMs, isReferenceReady } = answerContext
  const options = clientRequest.body['stream_options']
  const announcesUsage = isObject(options) && options['include_usage'] === true
  const { isOpenWebUi } = clientRequest.client
  const sendsUsage = announcesUsage || isOpenWebUi
  const references = isReferenceReady === undefined ? null : { turnId, isReady: isReferenceReady }
  let pending: SseMessage[] = []
  let started: { readonly chunks: ChunkRenderer; readonly items: ChatItemWriter } | null = null

  const start = (model: string | null) => {
    if (started !== null) return started
    const chunks = createChunkRenderer({
      id: completionId(turnId),
      createdAtMs,
      model: model ?? clientRequest.params.model,
      announcesUsage,
    })
    pending.push(chunks.renderDelta({ role: 'assistant', content: '' }))
    const send = (message: SseMessage): void => void pending.push(message)
    const items = createChatItemWriter(chunks, isOpenWebUi, send, references)
    started = { chunks, items }
    return started
  }
  const takePending = (): readonly SseMessage[] => {
    if (pending.length === 0) return NO_OUTPUT
    const taken = pending
    pending = []
    return taken
  }
  const finish = (outcome: Outcome): void => {
    const hadNoEvents = started === null
    const { chunks, items } = start(outcome.model)
    // Writes the items here if no event came before the end of the answer.
    if (hadNoEvents) for (const [index, item] of outcome.items.entries()) items.endItem(index, item)
    items.writeReferences()
    pending.push(chunks.renderFinish(renderFinishReason(outcome.finish, items.hasCalls())))
    if (sendsUsage && outcome.usage !== null) {
      pending.push(chunks.renderUsage(renderChatUsage(outcome.usage)))
    }
    pending.push({ data: '[DONE]' })
  }

  return {
    push(event) {
      const { type } = event
      if (type === 'answer-ended' || type === 'answer-failed') return NO_OUTPUT
      const { items } = start(type === 'answer-started' ? event.model : null)
      // An item that starts is not part of the reasoning before it, which the client may have to tell apart.
      if (type === 'item-started' || type === 'text-delta') items.writeReferences()
      if (type !== 'answer-started') writeItemEvent(event, items)
      return takePending()
    },
    end(outcome) {
      if (outcome.failure !== null) return [...takePending(), ...renderStreamError(outcome.failure)]
      finish(outcome)
      return takePending()
    },
  }
}

type ItemEvent = Exclude<
  StreamEvent,
  { readonly type: 'answer-started' | 'answer-ended' | 'answer-failed' }
>

function writeItemEvent(event: ItemEvent, items: ChatItemWriter): void {
  switch (event.type) {
    case 'text-delta':
      return items.writeText(event.index, event.text, event.logprobs)
    case 'reasoning-delta':
      return items.writeReasoning(event)
    case 'arguments-delta':
      return items.writeToolInput(event.index, event.text)
    case 'refusal-delta':
      return items.writeRefusal(event.index, event.text)
    case 'item-started':
      return items.startItem(event.index, event.item)
    case 'item-ended':
      return items.endItem(event.index, event.item)
    // Writes nothing: a chat completion has no field for encrypted reasoning, the only content that
    // an amendment adds.
    case 'item-amended':
      return
    // Writes nothing: clients keep only the last list of annotations that they receive, so the
    // complete list is sent when the item ends.
    case 'annotation-added':
  }
}
