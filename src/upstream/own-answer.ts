/**
 * An answer that no model gives: a warm-up that only prepares what is asked next, a compaction that
 * was asked for by itself. It goes the way of any other answer, so it is kept and told like one.
 */
import type { StreamEvent, Usage } from '../conversation/event.ts'
import type { Item } from '../conversation/item.ts'
import type { Asked } from './attempts.ts'
import type { Prepared } from './prepare.ts'
import type { Call, Reply } from '../transport/transport.ts'

export function ownAnswer(prepared: Prepared, items: readonly Item[], usage: Usage): Asked {
  const events = eventsOf(items, usage)
  const provider: Prepared['provider'] = {
    ...prepared.provider,
    speaks: () => null,
    decode: () => ({ push: () => [], end: () => events }),
    decodeWhole: () => events,
  }
  const reply = emptyReply()
  const call: Call = { reply: Promise.resolve(reply), cancel: () => undefined }
  return { prepared: { ...prepared, provider }, call, reply }
}

function eventsOf(items: readonly Item[], usage: Usage): readonly StreamEvent[] {
  return [
    { type: 'answer-started', upstreamId: null, model: null },
    ...items.flatMap((item, index): readonly StreamEvent[] => [
      { type: 'item-started', index, item },
      { type: 'item-ended', index, item },
    ]),
    { type: 'answer-ended', finish: 'stop', usage },
  ]
}

/** An object for who wants JSON; a line that means nothing for who wants events. */
function emptyReply(): Reply {
  return {
    status: 200,
    headers: {},
    flow(sink) {
      queueMicrotask(() => {
        sink.chunk(EMPTY_OBJECT)
        sink.end()
      })
      return { pause: () => undefined, resume: () => undefined }
    },
  }
}

const EMPTY_OBJECT = new TextEncoder().encode('{}')
