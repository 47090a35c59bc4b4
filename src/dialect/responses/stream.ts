/**
 * Renders an answer as a stream of Responses events. Whatever events it is given, in whatever order,
 * the stream is a legal one: it begins with `response.created`, every item that it announces is
 * closed, and it ends with one terminal event and `[DONE]`.
 */
import type { Outcome } from '../../conversation/outcome.ts'
import { failureOf } from '../../errors.ts'
import type { Answering, Renderer } from '../dialect.ts'
import { echoFields, JUST_BEGUN, progressFields, progressOf, type Progress } from './echo.ts'
import { errorFields } from './error-fields.ts'
import { tellItems } from './tell-items.ts'
import { writer, type Writer } from './writer.ts'

export function stream(answering: Answering): Renderer {
  const written = writer()
  const lifecycle = tellLifecycle(answering, written)
  const items = tellItems(answering, written)
  return {
    push(event) {
      lifecycle.begin(event.type === 'answer-started' ? event.model : null)
      items.push(event)
      return written.taken()
    },
    end(outcome, endedAtMs) {
      lifecycle.begin(outcome.model)
      const progress = progressOf(over(outcome), endedAtMs)
      lifecycle.end(progress, items.end(progress.status))
      return [...written.taken(), { data: '[DONE]' }]
    },
  }
}

/** A stream that ends has come to something. */
function over(outcome: Outcome): Outcome {
  if (outcome.finish !== null || outcome.failure !== null) return outcome
  const failure = failureOf('upstream_broken', 'The answer broke off before it was complete.')
  return { ...outcome, failure }
}

function tellLifecycle(answering: Answering, { write }: Writer) {
  const { background } = answering.inbound.memory
  // It holds all tools and instructions, so it is put into JSON once.
  const echo = JSON.stringify(echoFields(answering)).slice(1)
  let hasBegun = false
  const show = (type: string, progress: Progress, output: string): void => {
    const fields = JSON.stringify(progressFields(progress, answering)).slice(0, -1)
    write(type, `"response":${fields},"output":${output},${echo}`)
  }
  return {
    begin(model: string | null): void {
      if (hasBegun) return
      hasBegun = true
      const running: Progress = { ...JUST_BEGUN, model }
      const first: Progress = background ? { ...running, status: 'queued' } : running
      show('response.created', first, '[]')
      if (background) show('response.queued', first, '[]')
      show('response.in_progress', running, '[]')
    },
    end(progress: Progress, output: string): void {
      if (progress.failure !== null) write('error', errorFields(progress.failure))
      show(`response.${progress.status}`, progress, output)
    },
  }
}
