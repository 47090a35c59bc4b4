/**
 * How an answer is told to its client: passed on as it comes, where the upstream speaks the client's
 * language and nothing has to be changed, else told anew, with what this client in particular needs.
 */
import { statusFor } from './client/status-lines.ts'
import type { StreamEvent } from './conversation/event.ts'
import { textOf } from './conversation/item.ts'
import type { Outcome, OutcomeFold } from './conversation/outcome.ts'
import { isAssistantMessage } from './conversation/rounds.ts'
import type { Answering, Dialect, Renderer } from './dialect/dialect-interface.ts'
import type { Inbound } from './dialect/dialect.ts'
import type { Recorder } from './history/recorder.ts'
import { REFUSED } from './provider/degrade.ts'
import type { AnswerEvents } from './stream/answer-events.ts'
import { fromBody } from './stream/from-body.ts'
import { guarded, guardedWhole, type Guard } from './stream/guarded.ts'
import { heldWords } from './stream/held-words.ts'
import { hideHouse, outcomeShown } from './stream/hide-house.ts'
import { markedOutcome, marking, type MarkingOptions } from './stream/marking.ts'
import { prefaced } from './stream/prefaced.ts'
import { renditionOfJson } from './stream/rendition-of-json.ts'
import type { Rendition } from './stream/rendition.ts'
import { sameLanguage } from './stream/same-language.ts'
import type { Stage } from './stream/stage.ts'
import { streamedOrWhole } from './stream/streamed-or-whole.ts'
import { translated } from './stream/translated.ts'
import { nearlyFull } from './upstream/budget-exit.ts'
import type { Prepared } from './upstream/prepare.ts'
import type { ReadAnswer } from './upstream/read-answer.ts'
import { trimmed } from './upstream/trimmed.ts'
import type { World } from './world.ts'

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
