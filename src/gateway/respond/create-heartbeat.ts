/** Writes an SSE comment, `: ping`, whenever a client has been sent nothing for one interval. */
import type { ClientStream } from '../http-exchange-interface.ts'

/** Starts the heartbeat of a stream whose text is written with `send`. No `: ping` is written while paused. */
export function createHeartbeat(
  client: ClientStream,
  intervalMs: number,
  isPaused: () => boolean = () => false,
) {
  let isQuiet = true
  const timer = setInterval(() => {
    if (isQuiet && !isPaused()) client.write(': ping\n\n')
    isQuiet = true
  }, intervalMs)
  const send = (text: string | Uint8Array): boolean => {
    if (text.length === 0) return true
    isQuiet = false
    return client.write(text)
  }
  return { send, stop: () => clearInterval(timer) }
}
