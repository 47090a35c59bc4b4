/**
 * Renders the fields of an `error` event. OpenAI documents them at the top level, but sends them under
 * `error`, so they are written in both places.
 */
import type { Failure } from '../../../core/stream-event.ts'

export function renderErrorEventFields({ type, code, message, param }: Failure): string {
  const nested = JSON.stringify({ type, code, message, param })
  return `"error":${nested},${JSON.stringify({ code, message, param }).slice(1, -1)}`
}
