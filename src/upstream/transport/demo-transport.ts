/** Where the demo upstream lives: within the gateway, behind the same port as any other. */
import { createFailure } from '../../core/errors/gateway-error.ts'
import {
  scriptAnswer,
  type DemoRequest,
  type DemoStep,
} from '../../providers/demo/answer-script.ts'
import type { PushSink } from '../../core/stream/push-source.ts'
import { formatSseMessage } from '../../core/stream/sse.ts'
import type { UpstreamCall, UpstreamReply, Transport } from './transport-interface.ts'

/** Sends requests to `demo:` addresses to the demo upstream, all others on. */
export function wrapWithDemoTransport(transport: Transport): Transport {
  return (request) =>
    request.url.startsWith('demo:') ? callDemo(String(request.body)) : transport(request)
}

function callDemo(body: string): UpstreamCall {
  const request = JSON.parse(body) as DemoRequest
  const steps = scriptAnswer(request)
  const cancelled = new AbortController()
  const first = steps[0]
  const reply: UpstreamReply =
    first?.type === 'status'
      ? createJsonReply(first.status, { message: first.message })
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

/** One step after the other, a moment apart, as a model would. */
function playSteps(
  steps: readonly DemoStep[],
  sink: PushSink,
  delayMs: number,
  cancelled: AbortSignal,
): ReturnType<UpstreamReply['flow']> {
  let at = 0
  let paused = false
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | null = null
  const nextIn = (ms: number): void => void (timer ??= setTimeout(next, ms))
  const over = (last: () => void): void => {
    isOver = true
    last()
  }
  const next = (): void => {
    timer = null
    if (isOver) return
    if (cancelled.aborted) return over(() => sink.failed(BROKEN_OFF))
    if (paused) return
    const step = steps[at]
    if (step === undefined) return over(sink.end)
    if (step.type === 'hang') return
    at += 1
    if (step.type === 'break') return over(() => sink.failed(BROKEN_OFF))
    if (step.type === 'event')
      sink.chunk(utf8.encode(formatSseMessage({ data: JSON.stringify(step.event) })))
    nextIn(isDelta(step) ? delayMs : 0)
  }
  nextIn(0)
  cancelled.addEventListener('abort', () => nextIn(0), { once: true })
  return {
    pause: () => void (paused = true),
    resume() {
      paused = false
      nextIn(0)
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
