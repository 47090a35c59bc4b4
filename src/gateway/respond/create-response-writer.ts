/**
 * How an answer is told to its client: passed on as it comes, where the upstream speaks the client's
 * language and nothing has to be changed, else told anew, with what this client in particular needs.
 */
import { statusFor } from './choose-open-webui-status.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import { textOf } from '../../core/item.ts'
import type { Outcome, OutcomeFold } from '../../core/fold-answer-outcome.ts'
import { isAssistantMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { Answering, Dialect, Renderer } from '../../core/ports/dialect-interface.ts'
import type { Inbound } from '../../core/client-request.ts'
import type { Recorder } from '../record/recorder-interface.ts'
import { REFUSED } from '../../providers/request/drop-rejected-parameters.ts'
import type { AnswerEvents } from '../send/answer-event-source-interface.ts'
import { fromBody } from './parse-sse-for-writer.ts'
import { guarded, guardedWhole, type Guard } from './event-filters/apply-event-filters.ts'
import { heldWords } from './markers/delay-first-text.ts'
import { hideHouse, outcomeShown } from './hide-gateway-tools.ts'
import { markedOutcome, marking, type MarkingOptions } from './markers/wrap-renderer-with-marker.ts'
import { prefaced } from './prepend-message.ts'
import { renditionOfJson } from './render-json-body-as-stream.ts'
import type { Rendition } from './response-writer-interface.ts'
import { sameLanguage } from './pass-through/pass-through-stream.ts'
import type { Stage } from '../../core/stream/stage.ts'
import { streamedOrWhole } from './select-writer-by-first-byte.ts'
import { translated } from './translate-stream.ts'
import { nearlyFull } from '../prompt/size/end-tool-loop-near-limit.ts'
import type { Prepared } from '../prompt/prepare-request.ts'
import type { ReadAnswer } from '../send/read-buffered-answer.ts'
import { trimmed } from './trimmed-items-header.ts'
import type { World } from '../dependencies-interface.ts'

/** All that an answer is told from. */
export interface Parts {
  readonly dialect: Dialect
  readonly prepared: Prepared
  readonly guards: readonly Guard[]
  readonly answering: Answering
  readonly fold: OutcomeFold
  readonly recorder: Recorder
  readonly world: World
  /** What the request came to in one line, where its client wants to know. */
  readonly contextLine?: string | null
}

/** An upstream may answer whole where a stream was asked for. It is told as that stream. */
export function renditionFor(parts: Parts): Rendition {
  const { dialect, prepared, guards, answering, fold, world } = parts
  const { provider, account, prompt } = prepared
  return streamedOrWhole(streamRendition(parts), () =>
    renditionOfJson({
      decode: (body) => guardedWhole(provider.decodeWhole(body, account, prompt), guards),
      renderer: shown(dialect.stream(answering), parts),
      fold,
      now: world.nowMs,
    }),
  )
}

/** Where nobody has to decode it, it is told anew as it is. */
export function renditionOfEvents(
  { end }: AnswerEvents,
  parts: Parts,
): Rendition<readonly StreamEvent[]> {
  return toldAnew({ push: (events: readonly StreamEvent[]) => events, end }, parts)
}

/** The client's own language goes through as it is, but for what must be ours. */
function streamRendition(parts: Parts): Rendition {
  const { dialect, prepared, answering, fold, recorder } = parts
  const decoder = prepared.provider.decode(prepared.account, prepared.prompt)
  if (speaks(parts)) {
    const retouch = dialect.retouch(answering)
    const { stored: isKept } = answering
    const isKeeping = () => isKept || recorder.isKeeping()
    return sameLanguage({ decoder, fold, retouch, isKept, isKeeping })
  }
  return fromBody(toldAnew(decoder, parts))
}

function toldAnew<Chunk>(decoder: Stage<Chunk, StreamEvent>, parts: Parts): Rendition<Chunk> {
  const { dialect, guards, answering, fold, recorder, world } = parts
  const renderer = shown(dialect.stream(answering), parts)
  const { isMarked } = answering.inbound.client
  const held = isMarked ? heldWords(recorder.soonNamed) : null
  return translated({ decoder: guarded(decoder, guards), fold, renderer, now: world.nowMs, held })
}

/** An answer that was not streamed, as the text of a body. */
export function wholeFor(parts: Parts, outcome: Outcome, theirs: ReadAnswer['body']): BodyInit {
  const { dialect, answering, recorder, world } = parts
  if (theirs === null || !speaks(parts)) {
    const isNamed = answering.inbound.client.isMarked && recorder.mayBeNamed()
    const options = continuing(answering.inbound)
    const said = outcomeShown(outcome)
    const told = isNamed ? markedOutcome(said, answering.turnId, options) : said
    return JSON.stringify(dialect.whole(told, answering, world.nowMs()))
  }
  const body = dialect.retouch(answering).whole(theirs.json, outcome)
  return body === theirs.json ? (theirs.bytes as BodyInit) : JSON.stringify(body)
}

/** As its client is told it: without what is of the house, and marked, if it will bring the marker back. */
function shown(plain: Renderer, parts: Parts): Renderer {
  const renderer = marked(plain, parts)
  return parts.prepared.house.length === 0 ? renderer : hideHouse(renderer)
}

function marked(plain: Renderer, { answering, recorder, prepared }: Parts): Renderer {
  const { inbound, turnId } = answering
  const { client } = inbound
  const renderer = prefaced(plain, statusFor(client, prepared.notes))
  const options = continuing(inbound)
  if (!client.isMarked && options.beginsWithBreak !== true) return renderer
  const isReady = client.isMarked ? recorder.mayBeNamed : () => false
  return marking(renderer, { turnId, isReady }, options)
}

/** Open WebUI puts what it is given directly behind the text that it asks to have continued. */
function continuing({ client, items, given = items }: Inbound): MarkingOptions {
  const last = given.at(-1)
  if (!client.isOpenWebUi || last?.type !== 'message' || !isAssistantMessage(last)) return {}
  return { beginsWithBreak: true, continued: textOf(last.content) }
}

/**
 * Whether the answer comes in the client's own language, and may go on as it comes: not to a client
 * that is told more than its language has words for.
 */
function speaks({ prepared, guards, dialect, answering: { inbound } }: Parts): boolean {
  const { isMarked, isOpenWebUi } = inbound.client
  if (guards.length > 0 || isMarked || isOpenWebUi) return false
  return prepared.provider.speaks(prepared.prompt, prepared.account) === dialect.name
}

/** What a client should know of its request at once: each header only where there is something to tell. */
export function ourHeaders(parts: Parts): Readonly<Record<string, string>> {
  const { answering, prepared, contextLine = null } = parts
  const refused = prepared.notes.filter(({ why }) => why === REFUSED)
  const told = {
    'x-request-id': `req_${answering.turnId}`,
    'x-backstory-context': contextLine,
    'x-backstory-dropped': refused.map(({ field }) => field).join(', '),
    'x-backstory-trimmed': trimmed(prepared),
    'x-backstory-budget': nearlyFull(prepared),
  }
  return Object.fromEntries(
    Object.entries(told).flatMap(([name, value]) =>
      value === null || value === '' ? [] : [[name, value]],
    ),
  )
}
