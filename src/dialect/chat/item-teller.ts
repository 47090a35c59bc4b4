/**
 * Tells the items of an answer as deltas of the one message that a chat client knows. Deltas are
 * passed on as they come; what an item turns out to hold beyond them is told when it ends. Items
 * that chat has no word for are not told.
 */
import type { ReasoningDelta } from '../../conversation/event.ts'
import { textOf, type CustomCall, type FunctionCall, type Item } from '../../conversation/item.ts'
import type { Json, JsonObject } from '../../conversation/json.ts'
import type { SseMessage } from '../../stream/stage.ts'
import { inLines, pieces, type ChunkWriter } from './chunk-writer.ts'
import { BETWEEN_MESSAGES, shownReasoning } from './shown-text.ts'
import { reasoningDetails, tellAnnotation, tellImage } from './tell-parts.ts'

export interface ItemTeller {
  readonly started: (index: number, item: Item) => void
  readonly text: (index: number, text: string, logprobs?: readonly Json[]) => void
  readonly refusal: (index: number, text: string) => void
  readonly reasoning: (delta: Omit<ReasoningDelta, 'type'>) => void
  readonly input: (index: number, text: string) => void
  readonly ended: (index: number, item: Item) => void
  readonly hasCalls: () => boolean
}

/** What was told of one item so far. */
interface Told {
  text: boolean
  refusal: boolean
  input: boolean
  /** The channel of its reasoning that is shown; the other would say the same once more. */
  channel: 'summary' | 'content' | null
  part: number
  call: { readonly number: number; readonly isCustom: boolean } | null
}

export function itemTeller(
  writer: ChunkWriter,
  turnId: string,
  send: (message: SseMessage) => void,
): ItemTeller {
  const items = new Map<number, Told>()
  let calls = 0
  let hasText = false
  let hasReasoning = false

  const toldOf = (index: number): Told => {
    let told = items.get(index)
    if (told === undefined) {
      told = { text: false, refusal: false, input: false, channel: null, part: 0, call: null }
      items.set(index, told)
    }
    return told
  }
  const sendText = (before: string, text: string, after: string): void => {
    for (const message of writer.text(before, text, after)) send(message)
  }
  const sendList = (field: string, list: readonly JsonObject[]): void => {
    for (const line of inLines(list)) send(writer.delta({ [field]: line }))
  }

  const self: ItemTeller = {
    started(index, item) {
      const isCall = item.type === 'function_call' || item.type === 'custom_tool_call'
      // Without a name there is nothing to tell yet.
      if (isCall && item.name !== '') announce(toldOf(index), item)
    },
    text(index, text, logprobs) {
      const told = toldOf(index)
      if (text !== '') {
        const isNext = !told.text && hasText
        told.text = true
        hasText = true
        sendText('{"content":', isNext ? BETWEEN_MESSAGES + text : text, '}')
      }
      if (logprobs !== undefined && logprobs.length > 0) {
        for (const message of writer.logprobs(logprobs)) send(message)
      }
    },
    refusal(index, text) {
      if (text === '') return
      toldOf(index).refusal = true
      sendText('{"refusal":', text, '}')
    },
    reasoning({ index, channel, part, text }) {
      if (text === '') return
      const told = toldOf(index)
      if (told.channel !== null && told.channel !== channel) return
      const isNext = hasReasoning && (told.channel === null || told.part !== part)
      told.channel = channel
      told.part = part
      hasReasoning = true
      sendText('{"reasoning_content":', isNext ? BETWEEN_MESSAGES + text : text, '}')
    },
    input(index, text) {
      const told = toldOf(index)
      if (told.call === null || text === '') return
      told.input = true
      const { number, isCustom } = told.call
      const body = isCustom ? '"custom":{"input":' : '"function":{"arguments":'
      sendText(`{"tool_calls":[{"index":${number},${body}`, text, '}}]}')
    },
    ended(index, item) {
      const told = toldOf(index)
      if (item.type === 'message') endMessage(index, item, told)
      else if (item.type === 'reasoning') {
        const text = told.channel === null ? shownReasoning([item]) : ''
        self.reasoning({ index, channel: 'content', part: 0, text })
      } else if (item.type === 'function_call' || item.type === 'custom_tool_call') {
        if (told.call === null) announce(told, item)
        const text = item.type === 'function_call' ? item.arguments : item.input
        if (!told.input) self.input(index, text)
      }
      const details = reasoningDetails(item)
      if (details.length > 0) sendList('reasoning_details', details.flatMap(cutDetail))
    },
    hasCalls: () => calls > 0,
  }

  const announce = (told: Told, item: FunctionCall | CustomCall): void => {
    const isCustom = item.type === 'custom_tool_call'
    const number = calls++
    told.call = { number, isCustom }
    const id = item.call_id === '' ? `call_${turnId}${number}` : item.call_id
    const { name } = item
    const call = isCustom
      ? { index: number, id, type: 'custom', custom: { name, input: '' } }
      : { index: number, id, type: 'function', function: { name, arguments: '' } }
    send(writer.delta({ tool_calls: [call] }))
  }
  const endMessage = (
    index: number,
    { content }: Extract<Item, { readonly type: 'message' }>,
    told: Told,
  ): void => {
    const refusals = content.filter((part) => part.type === 'refusal')
    const words = content.filter((part) => part.type !== 'refusal')
    if (!told.text) self.text(index, textOf(words))
    if (!told.refusal) self.refusal(index, textOf(refusals))
    const annotations = content.flatMap((part) =>
      part.type === 'output_text' ? (part.annotations ?? []).map(tellAnnotation) : [],
    )
    sendList('annotations', present(annotations))
    sendList('images', present(content.map(tellImage)))
  }
  return self
}

/** Text of a block may come in pieces, which clients put together by `index`. */
function cutDetail(detail: JsonObject): readonly JsonObject[] {
  const name = typeof detail['text'] === 'string' ? 'text' : 'summary'
  const text = detail[name]
  const cut = typeof text === 'string' ? pieces(text) : []
  if (cut.length < 2) return [detail]
  const { type, index } = detail
  const leads = cut.slice(0, -1).map((piece): JsonObject => ({ type, index, [name]: piece }))
  return [...leads, { ...detail, [name]: cut.at(-1) }]
}

function present<One>(list: readonly (One | null)[]): readonly One[] {
  return list.filter((one) => one !== null)
}
