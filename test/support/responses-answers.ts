/**
 * Arbitrary answers for property tests: valid event sequences with overlapping items, texts cut anywhere, and
 * ids that are missing, empty or duplicate; and invalid sequences.
 */
import fc, { type Arbitrary } from 'fast-check'
import type { AnswerFinishReason, StreamEvent, TokenUsage } from '../../src/core/stream-event.ts'
import type { Item, Message, Part, Reasoning } from '../../src/core/item.ts'
import { createFailure } from '../../src/core/errors/gateway-error.ts'

/** An event of an item whose index is not yet chosen. */
type EventOfItem = (index: number) => StreamEvent

interface ItemEvents {
  readonly item: Item
  readonly started: Item
  /** The events of each part, in order. */
  readonly parts: readonly (readonly EventOfItem[])[]
}

/**
 * An answer whose parts come one after the other, as from providers. An empty part is last, because no event
 * shows it before its item ends.
 */
export const answer: Arbitrary<readonly StreamEvent[]> = answerOf(
  ({ parts }) => fc.constant(parts.flat()),
  ({ parts }) => parts.slice(0, -1).every((part) => part.length > 0),
)

/** An answer in which even the parts of one item alternate. */
export const tangledAnswer: Arbitrary<readonly StreamEvent[]> = answerOf(
  ({ parts }) => fc.array(fc.nat(), { maxLength: 20 }).map((picks) => interleave(parts, picks)),
  () => true,
)

/** Events that are missing, doubled, or refer to items that do not exist. */
export const nonsense: Arbitrary<readonly StreamEvent[]> = fc
  .tuple(tangledAnswer, fc.infiniteStream(fc.nat()))
  .map(([events, picks]) => {
    const frames = events.filter(({ type }) => !/delta|annotation/.test(type))
    return events.flatMap((event) => {
      const { value: pick = 0 } = picks.next() as IteratorResult<number, undefined>
      if (pick % 6 === 0 && frames.includes(event)) return []
      if (pick % 6 === 1) return [frames[pick % frames.length] ?? event, event]
      if (pick % 6 === 2) return [STRAY_EVENTS[pick % STRAY_EVENTS.length] ?? event, event]
      return [event]
    })
  })

const STRAY_EVENTS: readonly StreamEvent[] = [
  { type: 'text-delta', index: 90, part: 3, text: 'stray' },
  { type: 'refusal-delta', index: 90, part: 0, text: 'stray' },
  { type: 'reasoning-delta', index: 91, channel: 'content', part: 0, text: 'stray' },
  { type: 'text-delta', index: 91, part: 0, text: 'stray' },
  { type: 'arguments-delta', index: 92, text: 'stray' },
  { type: 'annotation-added', index: -1, part: 0, annotation: {} },
  { type: 'item-ended', index: 91, item: { type: 'opaque', raw: { type: 'x', id: '' } } },
]

function answerOf(
  tell: (telling: ItemEvents) => Arbitrary<readonly EventOfItem[]>,
  mayBe: (telling: ItemEvents) => boolean,
): Arbitrary<readonly StreamEvent[]> {
  const told = itemEvents()
    .filter(mayBe)
    .chain((telling) =>
      tell(telling).map((said): readonly EventOfItem[] => [
        (index) => ({ type: 'item-started', index, item: telling.started }),
        ...said,
        (index) => ({ type: 'item-ended', index, item: telling.item }),
      ]),
    )
  return fc
    .tuple(fc.array(told, { maxLength: 4 }), fc.array(fc.nat(), { maxLength: 30 }), ending())
    .map(([items, picks, end]) => {
      const named = items.map((said, index) => said.map((event) => event(index)))
      const begin: StreamEvent = {
        type: 'answer-started',
        upstreamId: 'up_1',
        model: 'upstream-model',
      }
      return withOwnCallIds([begin, ...interleave(named, picks), end])
    })
}

/** Takes from the lists alternately. A list starts only after all lists before it have started. */
function interleave<Entry>(
  lists: readonly (readonly Entry[])[],
  picks: readonly number[],
): readonly Entry[] {
  const rest = lists.map((list) => [...list])
  const all: Entry[] = []
  let begun = 0
  for (let turn = 0; rest.some((list) => list.length > 0); turn++) {
    const open = [...rest.keys()].filter((at) => at <= begun && (rest[at]?.length ?? 0) > 0)
    const at = open[(picks[turn] ?? 0) % open.length] ?? open[0] ?? begun + 1
    const entry = rest[at]?.shift()
    if (entry !== undefined) all.push(entry)
    begun = Math.max(begun, at + 1)
  }
  return all
}

/** Makes the call ids of an answer unique. */
function withOwnCallIds(events: readonly StreamEvent[]): readonly StreamEvent[] {
  return events.map((event) => {
    if (!('item' in event) || !('call_id' in event.item)) return event
    const { item, index } = event
    return { ...event, item: { ...item, call_id: `${item.call_id}_${index}` } }
  })
}

function ending(): Arbitrary<StreamEvent> {
  const usage: Arbitrary<TokenUsage | null> = fc.constantFrom(null, {
    inputTokens: 7,
    cachedTokens: null,
    cacheWriteTokens: 2,
    outputTokens: 3,
    reasoningTokens: 1,
    totalTokens: 10,
  })
  const finish = fc.constantFrom<AnswerFinishReason>('stop', 'stop', 'length', 'content-filter')
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(finish, usage)
        .map(([finish, usage]) => ({ type: 'answer-ended' as const, finish, usage })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('over "limit"', '').map((words) => ({
        type: 'answer-failed' as const,
        failure: createFailure('rate_limit_exceeded', words),
      })),
    },
  )
}

function itemEvents(): Arbitrary<ItemEvents> {
  return fc.oneof(
    { weight: 3, arbitrary: messageEvents() },
    { weight: 2, arbitrary: reasoningEvents() },
    { weight: 2, arbitrary: callEvents() },
    { weight: 1, arbitrary: otherEvents() },
  )
}

function ids(): Arbitrary<{ id?: string }> {
  return fc.constantFrom<{ id?: string }>({}, {}, { id: '' }, { id: 'taken' }, { id: 'x_"1"' })
}

function messageEvents(): Arbitrary<ItemEvents> {
  return fc.tuple(ids(), fc.array(partEvents(), { maxLength: 3 })).map(([id, parts]) => {
    const item: Message = {
      type: 'message',
      ...id,
      role: 'assistant',
      content: parts.map(({ part }) => part),
      phase: 'final_answer',
    }
    const said = parts.map(({ said }, part) => said.map((event) => event(part)))
    return { item, started: { ...item, content: [] }, parts: said }
  })
}

function partEvents(): Arbitrary<{ part: Part; said: readonly ((part: number) => EventOfItem)[] }> {
  const annotation = { type: 'url_citation', url: 'https://a.example/', title: 'A' }
  const text = fc.tuple(cutText(), fc.array(fc.constant(annotation), { maxLength: 2 }))
  const asText = text.map(([pieces, annotations]) => ({
    part: { type: 'output_text' as const, text: pieces.join(''), annotations },
    said: [
      ...pieces.map((text) => (part: number): EventOfItem => (index) => ({
        type: 'text-delta',
        index,
        part,
        text,
      })),
      ...annotations.map((annotation) => (part: number): EventOfItem => (index) => ({
        type: 'annotation-added',
        index,
        part,
        annotation,
      })),
    ],
  }))
  const asRefusal = cutText().map((pieces) => ({
    part: { type: 'refusal' as const, refusal: pieces.join('') },
    said: pieces.map((text) => (part: number): EventOfItem => (index) => ({
      type: 'refusal-delta',
      index,
      part,
      text,
    })),
  }))
  const opaque = fc.constant({ part: { type: 'opaque' as const, raw: { type: 'x' } }, said: [] })
  return fc.oneof(
    { weight: 5, arbitrary: asText },
    { weight: 2, arbitrary: asRefusal },
    { weight: 1, arbitrary: opaque },
  )
}

function reasoningEvents(): Arbitrary<ItemEvents> {
  const parts = fc.array(cutText(), { maxLength: 2 })
  return fc
    .tuple(ids(), parts, parts, fc.constantFrom({}, { encrypted_content: 'sealed' }))
    .map(([id, summary, content, sealed]) => {
      const item: Reasoning = {
        type: 'reasoning',
        ...id,
        summary: summary.map((pieces) => ({ type: 'summary_text', text: pieces.join('') })),
        ...(content.length === 0
          ? {}
          : {
              content: content.map((pieces) => ({ type: 'reasoning_text', text: pieces.join('') })),
            }),
        ...sealed,
        native: { anthropic: { signature: 'x' } },
      }
      const said = (channel: 'summary' | 'content') => (pieces: readonly string[], part: number) =>
        pieces.map((text): EventOfItem => (index) => ({
          type: 'reasoning-delta',
          index,
          channel,
          part,
          text,
        }))
      return {
        item,
        started: { type: 'reasoning', ...id, summary: [] },
        parts: [...summary.map(said('summary')), ...content.map(said('content'))],
      }
    })
}

function callEvents(): Arbitrary<ItemEvents> {
  return fc.tuple(ids(), cutText(), fc.boolean()).map(([id, pieces, isCustom]) => {
    const call = { ...id, call_id: 'call', name: 'look' }
    const [type, field] = isCustom
      ? (['custom_tool_call', 'input'] as const)
      : (['function_call', 'arguments'] as const)
    const item = { type, ...call, [field]: pieces.join('') } as unknown as Item
    const said = pieces.map((text): EventOfItem => (index) => ({
      type: 'arguments-delta',
      index,
      text,
    }))
    return { item, started: { ...item, [field]: '' }, parts: [said] }
  })
}

/** An item without deltas. */
function otherEvents(): Arbitrary<ItemEvents> {
  return fc
    .constantFrom<Item>(
      { type: 'opaque', raw: { type: 'web_search_call', id: 'ws_1', status: 'completed' } },
      { type: 'opaque', raw: { type: 'vendor:thing' } },
      { type: 'function_call_output', call_id: 'call', output: 'done' },
    )
    .map((item) => ({ item, started: item, parts: [] }))
}

/** Non-empty pieces of a text; sometimes none. */
function cutText(): Arbitrary<readonly string[]> {
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: 8 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('\n\n', '"', '\\', '[DONE]', '\u2028', '\ud83d', '\ude00', '好'),
    },
  )
  return fc.array(piece, { maxLength: 4 })
}
