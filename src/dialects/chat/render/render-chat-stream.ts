/**
 * Renders the events of an answer as chat chunks: one message, whose text, reasoning and calls come
 * in as deltas, one reason to finish, the usage if it was asked for, `[DONE]`. A failure is an error
 * chunk without choices, never an ending that looks well.
 *
 * Open WebUI shows the usage, adds it up over a turn, and mostly does not ask for it, so it is told all
 * the same. It takes `<think>` and its like out of the text of an answer, wherever they stand. They are
 * left in: to spoil them would spoil the code, or the very sentence, that speaks of them, and what is
 * kept of an answer would not be what was said.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { completionId } from '../../../core/turn-derived-ids.ts'
import { isObject } from '../../../core/json/json.ts'
import type { Outcome } from '../../../core/fold-answer-outcome.ts'
import { NO_OUTPUT, type SseMessage } from '../../../core/stream/stage.ts'
import type { AnswerContext, AnswerRenderer } from '../../../core/ports/dialect-interface.ts'
import { createChunkWriter, type ChunkWriter } from './chunk-writer.ts'
import { renderStreamError } from './render-stream-error.ts'
import { createChatItemWriter, type ChatItemWriter } from './chat-item-writer.ts'
import { renderFinishReason } from './render-answer-fields.ts'
import { renderChatUsage } from './render-chat-usage.ts'

export function createChatStreamRenderer(answering: AnswerContext): AnswerRenderer {
  const { clientRequest, turnId, createdAtMs } = answering
  const options = clientRequest.body['stream_options']
  const announcesUsage = isObject(options) && options['include_usage'] === true
  const { isOpenWebUi } = clientRequest.client
  const tellsUsage = announcesUsage || isOpenWebUi
  let out: SseMessage[] = []
  let open: { readonly writer: ChunkWriter; readonly teller: ChatItemWriter } | null = null

  const begin = (model: string | null) => {
    if (open !== null) return open
    const writer = createChunkWriter({
      id: completionId(turnId),
      createdAtMs,
      model: model ?? clientRequest.params.model,
      announcesUsage,
    })
    out.push(writer.delta({ role: 'assistant', content: '' }))
    open = {
      writer,
      teller: createChatItemWriter(writer, isOpenWebUi, (message) => out.push(message)),
    }
    return open
  }
  const take = (): readonly SseMessage[] => {
    if (out.length === 0) return NO_OUTPUT
    const taken = out
    out = []
    return taken
  }
  const finish = (outcome: Outcome): void => {
    const isFresh = open === null
    const { writer, teller } = begin(outcome.model)
    // Told now what nobody told before, as when an answer was there at once.
    if (isFresh) for (const [index, item] of outcome.items.entries()) teller.ended(index, item)
    out.push(writer.finish(renderFinishReason(outcome.finish, teller.hasCalls())))
    if (tellsUsage && outcome.usage !== null) out.push(writer.usage(renderChatUsage(outcome.usage)))
    out.push({ data: '[DONE]' })
  }

  return {
    push(event) {
      const { type } = event
      if (type === 'answer-ended' || type === 'answer-failed') return NO_OUTPUT
      const { teller } = begin(type === 'answer-started' ? event.model : null)
      if (type !== 'answer-started') tell(event, teller)
      return take()
    },
    end(outcome) {
      if (outcome.failure !== null) return [...take(), ...renderStreamError(outcome.failure)]
      finish(outcome)
      return take()
    },
  }
}

type Told = Exclude<StreamEvent['type'], 'answer-started' | 'answer-ended' | 'answer-failed'>

function tell(event: Extract<StreamEvent, { readonly type: Told }>, teller: ChatItemWriter): void {
  switch (event.type) {
    case 'text-delta':
      return teller.text(event.index, event.text, event.logprobs)
    case 'reasoning-delta':
      return teller.reasoning(event)
    case 'arguments-delta':
      return teller.input(event.index, event.text)
    case 'refusal-delta':
      return teller.refusal(event.index, event.text)
    case 'item-started':
      return teller.started(event.index, event.item)
    case 'item-ended':
      return teller.ended(event.index, event.item)
    // Clients keep only the last list of annotations: they are told together when the item ends.
    case 'annotation-added':
  }
}
