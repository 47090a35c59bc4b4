/**
 * How an answer is told to its client: passed on as it comes, where the upstream speaks the client's
 * language and nothing has to be changed, else told anew, with what this client in particular needs.
 */
import { chooseStatusLine } from './choose-open-webui-status.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import { textOf } from '../../core/item.ts'
import type { Outcome, OutcomeFold } from '../../core/fold-answer-outcome.ts'
import { isAssistantMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { AnswerContext, Dialect, AnswerRenderer } from '../../core/ports/dialect-interface.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import type { Recorder } from '../record/recorder-interface.ts'
import { REJECTED_BY_UPSTREAM } from '../../providers/request/drop-rejected-parameters.ts'
import type { AnswerEventSource } from '../send/answer-event-source-interface.ts'
import { createSseBodyWriter } from './parse-sse-for-writer.ts'
import {
  applyEventFilters,
  filterEventList,
  type EventFilter,
} from './event-filters/apply-event-filters.ts'
import { delayFirstText } from './markers/delay-first-text.ts'
import { hideGatewayTools, removeGatewayToolsFromOutcome } from './hide-gateway-tools.ts'
import {
  addMarkerToOutcome,
  wrapRendererWithMarker,
  type MarkerOptions,
} from './markers/wrap-renderer-with-marker.ts'
import { prependMessage } from './prepend-message.ts'
import { createJsonBodyRenderer } from './render-json-body-as-stream.ts'
import type { ResponseWriter } from './response-writer-interface.ts'
import { createPassThroughWriter } from './pass-through/pass-through-stream.ts'
import type { Stage } from '../../core/stream/stage.ts'
import { selectWriterByFirstByte } from './select-writer-by-first-byte.ts'
import { createTranslatingWriter } from './translate-stream.ts'
import { readBudgetStatus } from '../prompt/size/end-tool-loop-near-limit.ts'
import type { PreparedRequest } from '../prompt/prepare-request.ts'
import type { BufferedAnswer } from '../send/read-buffered-answer.ts'
import { formatTrimmedHeader } from './trimmed-items-header.ts'
import type { GatewayDependencies } from '../dependencies-interface.ts'

/** All that an answer is told from. */
export interface ResponseParts {
  readonly dialect: Dialect
  readonly prepared: PreparedRequest
  readonly eventFilters: readonly EventFilter[]
  readonly answerContext: AnswerContext
  readonly fold: OutcomeFold
  readonly recorder: Recorder
  readonly world: GatewayDependencies
  /** What the request came to in one line, where its client wants to know. */
  readonly contextHeader?: string | null
}

/** An upstream may answer whole where a stream was asked for. It is told as that stream. */
export function createResponseWriter(parts: ResponseParts): ResponseWriter {
  const { dialect, prepared, eventFilters, answerContext, fold, world } = parts
  const { provider, account, prompt } = prepared
  return selectWriterByFirstByte(streamRendition(parts), () =>
    createJsonBodyRenderer({
      decode: (body) => filterEventList(provider.decodeBody(body, account, prompt), eventFilters),
      renderer: shown(dialect.createRenderer(answerContext), parts),
      fold,
      now: world.nowMs,
    }),
  )
}

/** Where nobody has to decode it, it is told anew as it is. */
export function createEventResponseWriter(
  { end }: AnswerEventSource,
  parts: ResponseParts,
): ResponseWriter<readonly StreamEvent[]> {
  return toldAnew({ push: (events: readonly StreamEvent[]) => events, end }, parts)
}

/** The client's own language goes through as it is, but for what must be ours. */
function streamRendition(parts: ResponseParts): ResponseWriter {
  const { dialect, prepared, answerContext, fold, recorder } = parts
  const decoder = prepared.provider.createDecoder(prepared.account, prepared.prompt)
  if (speaks(parts)) {
    const retouch = dialect.createPassThroughPatcher(answerContext)
    const { stored: isKept } = answerContext
    const isKeeping = () => isKept || recorder.isStoring()
    return createPassThroughWriter({
      decoder,
      fold,
      patcher: retouch,
      isStored: isKept,
      isStoring: isKeeping,
    })
  }
  return createSseBodyWriter(toldAnew(decoder, parts))
}

function toldAnew<Chunk>(
  decoder: Stage<Chunk, StreamEvent>,
  parts: ResponseParts,
): ResponseWriter<Chunk> {
  const { dialect, eventFilters, answerContext, fold, recorder, world } = parts
  const renderer = shown(dialect.createRenderer(answerContext), parts)
  const { receivesMarkers } = answerContext.clientRequest.client
  const held = receivesMarkers ? delayFirstText(recorder.whenReferenceable) : null
  return createTranslatingWriter({
    decoder: applyEventFilters(decoder, eventFilters),
    fold,
    renderer,
    now: world.nowMs,
    held,
  })
}

/** An answer that was not streamed, as the text of a body. */
export function renderResponseBody(
  parts: ResponseParts,
  outcome: Outcome,
  theirs: BufferedAnswer['body'],
): BodyInit {
  const { dialect, answerContext, recorder, world } = parts
  if (theirs === null || !speaks(parts)) {
    const isNamed = answerContext.clientRequest.client.receivesMarkers && recorder.canBeReferenced()
    const options = continuing(answerContext.clientRequest)
    const said = removeGatewayToolsFromOutcome(outcome)
    const told = isNamed ? addMarkerToOutcome(said, answerContext.turnId, options) : said
    return JSON.stringify(dialect.renderBody(told, answerContext, world.nowMs()))
  }
  const body = dialect.createPassThroughPatcher(answerContext).patchBody(theirs.json, outcome)
  return body === theirs.json ? (theirs.bytes as BodyInit) : JSON.stringify(body)
}

/** As its client is told it: without what is of the house, and marked, if it will bring the marker back. */
function shown(plain: AnswerRenderer, parts: ResponseParts): AnswerRenderer {
  const renderer = marked(plain, parts)
  return parts.prepared.gatewayTools.length === 0 ? renderer : hideGatewayTools(renderer)
}

function marked(
  plain: AnswerRenderer,
  { answerContext, recorder, prepared }: ResponseParts,
): AnswerRenderer {
  const { clientRequest, turnId } = answerContext
  const { client } = clientRequest
  const renderer = prependMessage(plain, chooseStatusLine(client, prepared.notes))
  const options = continuing(clientRequest)
  if (!client.receivesMarkers && options.beginsWithBreak !== true) return renderer
  const isReady = client.receivesMarkers ? recorder.canBeReferenced : () => false
  return wrapRendererWithMarker(renderer, { turnId, isReady }, options)
}

/** Open WebUI puts what it is given directly behind the text that it asks to have continued. */
function continuing({ client, items, originalItems = items }: ClientRequest): MarkerOptions {
  const last = originalItems.at(-1)
  if (!client.isOpenWebUi || last?.type !== 'message' || !isAssistantMessage(last)) return {}
  return { beginsWithBreak: true, continued: textOf(last.content) }
}

/**
 * Whether the answer comes in the client's own language, and may go on as it comes: not to a client
 * that is told more than its language has words for.
 */
function speaks({
  prepared,
  eventFilters,
  dialect,
  answerContext: { clientRequest },
}: ResponseParts): boolean {
  const { receivesMarkers, isOpenWebUi } = clientRequest.client
  if (eventFilters.length > 0 || receivesMarkers || isOpenWebUi) return false
  return prepared.provider.getPassThroughDialect(prepared.prompt, prepared.account) === dialect.name
}

/** What a client should know of its request at once: each header only where there is something to tell. */
export function buildResponseHeaders(parts: ResponseParts): Readonly<Record<string, string>> {
  const { answerContext, prepared, contextHeader = null } = parts
  const refused = prepared.notes.filter(({ why }) => why === REJECTED_BY_UPSTREAM)
  const told = {
    'x-request-id': `req_${answerContext.turnId}`,
    'x-backstory-context': contextHeader,
    'x-backstory-dropped': refused.map(({ field }) => field).join(', '),
    'x-backstory-trimmed': formatTrimmedHeader(prepared),
    'x-backstory-budget': readBudgetStatus(prepared),
  }
  return Object.fromEntries(
    Object.entries(told).flatMap(([name, value]) =>
      value === null || value === '' ? [] : [[name, value]],
    ),
  )
}
