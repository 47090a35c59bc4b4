/** Runs the demo upstream inside the gateway, with the same interface as an upstream over HTTP. */
import { createFailure } from '../../core/errors/gateway-error.ts'
import { scriptAnswer, type DemoStep } from '../../providers/demo/answer-script.ts'
import type { DemoRequest } from '../../providers/demo/demo-request.ts'
import type { PushSink } from '../../core/stream/push-source-interface.ts'
import { formatSseMessage } from '../../core/stream/sse.ts'
import { decodeBodyText } from './decode-body-text.ts'
import type { UpstreamCall, UpstreamReply, Transport } from './transport-interface.ts'

/**
 * Returns a transport that handles requests to `demo:` URLs itself and passes all others to `transport`.
 */
export function wrapWithDemoTransport(transport: Transport): Transport {
  return (request) => {
    if (!request.url.startsWith('demo:')) return transport(request)
    return request.method === 'GET' ? listDemoModels() : callDemo(decodeBodyText(request))
  }
}

/** Replies to `GET /models`, so that `GET /v1/models` lists the demo model also for the pattern `*`. */
function listDemoModels(): UpstreamCall {
  const reply = createJsonReply(200, { data: [{ id: 'demo' }] })
  return { reply: Promise.resolve(reply), cancel: () => undefined }
}

function callDemo(body: string): UpstreamCall {
  const request = JSON.parse(body) as DemoRequest
  const steps = scriptAnswer(request)
  const cancelled = new AbortController()
  const firstStep = steps[0]
  const reply: UpstreamReply =
    firstStep?.type === 'status'
      ? createJsonReply(firstStep.status, { message: firstStep.message })
      : request.stream
        ? {
            status: 200,
            headers: { 'content-type': 'text/event-stream' },
            flow: (sink) => playSteps(steps, sink, request.delayMs, cancelled.signal),
          }
        : createJsonReply(200, {
            events: steps.flatMap((step) => (step.type === 'event' ? [step.event] : [])),
          })
  return { reply: Promise.resolve(reply), cancel: () => cancelled.abort() }
}

function createJsonReply(status: number, body: object): UpstreamReply {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    flow(sink) {
      queueMicrotask(() => {
        sink.chunk(utf8.encode(JSON.stringify(body)))
        sink.end()
      })
      return { pause: () => undefined, resume: () => undefined }
    },
  }
}

const utf8 = new TextEncoder()

/** Sends the steps of a scripted answer in order, with a pause of `delayMs` after each text delta. */
function playSteps(
  steps: readonly DemoStep[],
  sink: PushSink,
  delayMs: number,
  cancelled: AbortSignal,
): ReturnType<UpstreamReply['flow']> {
  let nextIndex = 0
  let isPaused = false
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | null = null
  const schedule = (ms: number): void => void (timer ??= setTimeout(playNext, ms))
  const finish = (sendLast: () => void): void => {
    isOver = true
    sendLast()
  }
  const playNext = (): void => {
    timer = null
    if (isOver) return
    if (cancelled.aborted) return finish(() => sink.failed(BROKEN_OFF))
    if (isPaused) return
    const step = steps[nextIndex]
    if (step === undefined) return finish(sink.end)
    if (step.type === 'hang') return
    nextIndex += 1
    if (step.type === 'break') return finish(() => sink.failed(BROKEN_OFF))
    if (step.type === 'event')
      sink.chunk(utf8.encode(formatSseMessage({ data: JSON.stringify(step.event) })))
    schedule(isDelta(step) ? delayMs : 0)
  }
  schedule(0)
  cancelled.addEventListener('abort', () => schedule(0), { once: true })
  return {
    pause: () => void (isPaused = true),
    resume() {
      isPaused = false
      schedule(0)
    },
  }
}

const BROKEN_OFF = createFailure(
  'upstream_broken',
  'The demo upstream broke off, as it was asked to.',
)

function isDelta(step: DemoStep): boolean {
  return step.type === 'event' && step.event.type.endsWith('-delta')
}
