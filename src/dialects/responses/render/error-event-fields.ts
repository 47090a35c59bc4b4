/**
 * The `error` event's fields as JSON. OpenAI documents them flat and sends them nested, so they are
 * written both ways.
 */
import type { Failure } from '../../../core/stream-event.ts'

export function renderErrorEventFields({ type, code, message, param }: Failure): string {
  const nested = JSON.stringify({ type, code, message, param })
  return `"error":${nested},${JSON.stringify({ code, message, param }).slice(1, -1)}`
}
