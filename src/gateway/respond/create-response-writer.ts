/**
 * Creates the writer of a response. An upstream's answer in the client's dialect passes through if nothing
 * has to be added or filtered. Any other answer is rendered from events, with a marker and a status line if
 * the client uses them.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Outcome, OutcomeCollector } from '../../core/collect-answer-outcome.ts'
import { textOf } from '../../core/item.ts'
import { findContinuedMessage } from '../../core/items/find-continued-message.ts'
import type { AnswerContext, Dialect, AnswerRenderer } from '../../core/ports/dialect-interface.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import type { OpenWebUiStatusMessage } from '../../core/stream/open-webui-status-message.ts'
import type { SseMessage } from '../../core/stream/sse.ts'
import type { StreamStage } from '../../core/stream/stream-stage.ts'
import { attributeErrorMessage } from '../../upstream/errors/attribute-failure.ts'
import type { Ports } from '../dependencies-interface.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { readBudgetWarningStatus } from '../prompt/size/end-tool-loop-near-full-window.ts'
import type { Recorder } from '../record/recorder-interface.ts'
import type { AnswerEventSource } from '../send/answer-event-source-interface.ts'
import { decodeAnswerBody } from '../send/decode-answer-body.ts'
import type { BufferedAnswer } from '../send/read-buffered-answer.ts'
import { chooseOpenWebUiStatus } from './choose-open-webui-status.ts'
import { createFullStatus } from './create-full-status.ts'
import { formatDroppedHeader } from './dropped-fields-header.ts'
import { applyEventFilters, type EventFilter } from './event-filters/apply-event-filters.ts'
import { hideGatewayTools, removeGatewayToolsFromOutcome } from './hide-gateway-tools.ts'
import { delayFirstText } from './markers/delay-first-text.ts'
import type { MarkerOptions } from './markers/insert-marker-into-events.ts'
import { addMarkerToOutcome, wrapRendererWithMarker } from './markers/wrap-renderer-with-marker.ts'
import { createPassThroughWriter } from './pass-through/pass-through-writer.ts'
import type { RequestRemarks } from './load-request-remarks.ts'
import type { ResponseWriter } from './response-writer-interface.ts'
import { selectStreamOrJsonWriter } from './select-stream-or-json-writer.ts'
import { createTranslatingWriter } from './translating-writer.ts'
import { formatTrimmedHeader } from './trimmed-items-header.ts'

/** Everything that is needed to write a response. */
export interface ResponseParts {
  readonly dialect: Dialect
  readonly prepared: PreparedRequest
  readonly eventFilters: readonly EventFilter[]
  readonly answerContext: AnswerContext
  readonly fold: OutcomeCollector
  readonly recorder: Recorder
  readonly remarks: RequestRemarks
}

/**
 * Creates the writer for an upstream's body. A stream passes through if it is in the client's dialect and
 * needs no change; any other body is decoded and rendered.
 */
export function createResponseWriter(parts: ResponseParts, ports: Clock): ResponseWriter {
  const { dialect, prepared, answerContext, fold, recorder } = parts
  const { account, prompt, provider } = prepared
  const createTranslation = () => createTranslator(decodeAnswerBody(prepared), parts, ports)
  if (!passesThrough(parts)) return createTranslation()
  const { isStored } = answerContext
  const passThrough = createPassThroughWriter({
    decoder: provider.createDecoder(account, prompt),
    attributeError: (message) => attributeErrorMessage(message, account),
    fold,
    patcher: dialect.createPassThroughPatcher(answerContext),
    isStored,
    isStoredAtEnd: () => isStored || recorder.isStoringUnrequestedTurn(),
  })
  return selectStreamOrJsonWriter(passThrough, createTranslation)
}

type Clock = Ports<'nowMs'>

/** Creates the writer for an answer that consists of events, so that no body has to be decoded. */
export function createResponseWriterFromEvents(
  { end }: AnswerEventSource,
  parts: ResponseParts,
  ports: Clock,
): ResponseWriter<readonly StreamEvent[]> {
  return createTranslator({ push: (events: readonly StreamEvent[]) => events, end }, parts, ports)
}

function createTranslator<Chunk>(
  decoder: StreamStage<Chunk, StreamEvent>,
  parts: ResponseParts,
  ports: Clock,
): ResponseWriter<Chunk> {
  const { dialect, eventFilters, answerContext, fold, recorder } = parts
  const { client } = answerContext.clientRequest
  const namesTurnBeforeText =
    client.returnsReasoningReferences || (client.receivesMarkers && !client.marksOnlyAnswerEnds)
  const firstTextDelay = namesTurnBeforeText ? delayFirstText(recorder.whenNameableByMarker) : null
  const isMarkerReady = (): boolean =>
    firstTextDelay?.areEarlierItemsStored() === true || recorder.canBeNamedByMarker()
  const namedContext = client.returnsReasoningReferences
    ? { ...answerContext, isReferenceReady: isMarkerReady }
    : answerContext
  return createTranslatingWriter({
    decoder: applyEventFilters(decoder, eventFilters),
    fold,
    renderer: wrapRenderer(dialect.createRenderer(namedContext), parts, isMarkerReady),
    nowMs: ports.nowMs,
    firstTextDelay,
  })
}

/**
 * Renders the body of a non-streamed response. `upstreamJsonBody` is null if the upstream's answer was not
 * one JSON object.
 */
export function renderResponseBody(
  parts: ResponseParts,
  outcome: Outcome,
  upstreamJsonBody: BufferedAnswer['jsonBody'],
  ports: Clock,
): BodyInit {
  const { dialect, answerContext, recorder } = parts
  if (upstreamJsonBody === null || !passesThrough(parts)) {
    const { clientRequest, turnId } = answerContext
    const getsMarker = clientRequest.client.receivesMarkers && recorder.canBeNamedByMarker()
    const visible = removeGatewayToolsFromOutcome(outcome)
    const rendered = getsMarker
      ? addMarkerToOutcome(visible, turnId, {
          ...resolveMarkerOptions(clientRequest),
          // A completion in one piece has no references beside its reasoning.
          isNamedBesideReasoning: false,
        })
      : visible
    return JSON.stringify(dialect.renderBody(rendered, answerContext, ports.nowMs()))
  }
  const { json, bytes } = upstreamJsonBody
  const body = dialect.createPassThroughPatcher(answerContext).patchBody(json, outcome)
  return body === json ? (bytes as BodyInit) : JSON.stringify(body)
}

/** Wraps a renderer so that it hides the calls of gateway tools and adds the status line and the marker. */
function wrapRenderer(
  plain: AnswerRenderer,
  parts: ResponseParts,
  isMarkerReady: () => boolean,
): AnswerRenderer {
  const renderer = addStatusAndMarker(plain, parts, isMarkerReady)
  return parts.prepared.gatewayTools.length === 0 ? renderer : hideGatewayTools(renderer)
}

function addStatusAndMarker(
  plain: AnswerRenderer,
  { answerContext, prepared, remarks }: ResponseParts,
  isMarkerReady: () => boolean,
): AnswerRenderer {
  const { clientRequest, turnId } = answerContext
  const { client } = clientRequest
  const status = chooseOpenWebUiStatus(client, prepared.notes, remarks.lostReasoningCause)
  const renderer = addFullStatus(prependMessage(plain, status), prepared, status)
  const options = resolveMarkerOptions(clientRequest)
  if (!client.receivesMarkers && options.beginsWithBreak !== true) return renderer
  const isReady = client.receivesMarkers ? isMarkerReady : () => false
  return wrapRendererWithMarker(renderer, { turnId, isReady }, options)
}

/**
 * Wraps a renderer so that it writes the full status line, if the client wants it, before its last messages: only then
 * is it known how much of the prompt the provider has read from its cache.
 */
function addFullStatus(
  renderer: AnswerRenderer,
  prepared: PreparedRequest,
  status: OpenWebUiStatusMessage | null,
): AnswerRenderer {
  if (!prepared.clientRequest.client.wantsFullStatus) return renderer
  return {
    push: renderer.push,
    end: (outcome, endedAtMs) => [
      ...(outcome.failure === null ? [createFullStatus(prepared, outcome.usage, status)] : []),
      ...renderer.end(outcome, endedAtMs),
    ],
  }
}

/**
 * Wraps a renderer so that it writes the message `first` before all others. Returns the renderer itself for
 * null.
 */
function prependMessage(renderer: AnswerRenderer, first: SseMessage | null): AnswerRenderer {
  if (first === null) return renderer
  let isSent = false
  const prepend = (messages: readonly SseMessage[]): readonly SseMessage[] => {
    if (isSent) return messages
    isSent = true
    return [first, ...messages]
  }
  return {
    push: (event) => prepend(renderer.push(event)),
    end: (outcome, endedAtMs) => prepend(renderer.end(outcome, endedAtMs)),
  }
}

/**
 * Returns how the marker is inserted. With "continue", Open WebUI appends the answer to its last message,
 * so the marker has to be invisible after the text of that message.
 */
function resolveMarkerOptions(clientRequest: ClientRequest): MarkerOptions {
  const { client } = clientRequest
  const placement = {
    isOnlyAtEnd: client.marksOnlyAnswerEnds,
    isNamedBesideReasoning: client.returnsReasoningReferences,
  }
  const continued = findContinuedMessage(clientRequest)
  if (continued === null) return placement
  return { ...placement, beginsWithBreak: true, continuedText: textOf(continued.content) }
}

/**
 * True if the upstream answers in the client's dialect and nothing has to be added or filtered: no marker,
 * no event filter, no status line of Open WebUI.
 */
function passesThrough(parts: ResponseParts): boolean {
  const { prepared, eventFilters, dialect, answerContext } = parts
  const { receivesMarkers, isOpenWebUi } = answerContext.clientRequest.client
  if (eventFilters.length > 0 || receivesMarkers || isOpenWebUi) return false
  return prepared.provider.getPassThroughDialect(prepared.prompt, prepared.account) === dialect.name
}

/** Builds the response headers. Omits headers without a value. */
export function buildResponseHeaders(parts: ResponseParts): Readonly<Record<string, string>> {
  const { answerContext, prepared, remarks } = parts
  const headers = {
    'x-backstory-context': remarks.contextHeader,
    'x-backstory-dropped': formatDroppedHeader(answerContext.lostFields ?? []),
    'x-backstory-trimmed': formatTrimmedHeader(prepared),
    'x-backstory-budget': readBudgetWarningStatus(prepared),
  }
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === null || value === '' ? [] : [[name, value]],
    ),
  )
}
