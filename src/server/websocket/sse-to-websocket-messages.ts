/**
 * Converts server-sent events to WebSocket messages: each message is the JSON of one event. Comments
 * and `[DONE]` exist only in server-sent events and are dropped.
 */
import { createSseDecoder } from '../../core/stream/sse.ts'

/** Adds `stream_id` to every message, if the client sent a `streamId`. */
export function createSseToMessageConverter(
  streamId: string | null,
): (written: string | Uint8Array) => readonly string[] {
  const sse = createSseDecoder()
  const prefix = streamId === null ? null : `{"stream_id":${JSON.stringify(streamId)},`
  const createMessages = (data: string): readonly string[] => {
    if (!data.startsWith('{')) return NO_MESSAGES
    return [prefix === null ? data : prefix + data.slice(1)]
  }
  return (written) =>
    typeof written === 'string'
      ? splitEvents(written).flatMap(createMessages)
      : sse.push(written).flatMap(({ data }) => createMessages(data))
}

const NO_MESSAGES: readonly string[] = []

/** Splits text that the gateway wrote: always complete events, as `core/stream/sse.ts` formats them. */
function splitEvents(text: string): readonly string[] {
  return text.split('\n\n').flatMap((event) => {
    const start = event.startsWith('data: ') ? 0 : event.indexOf('\ndata: ') + 1
    if (start === 0 && !event.startsWith('data: ')) return NO_MESSAGES
    return [event.slice(start + 'data: '.length).replaceAll('\ndata: ', '\n')]
  })
}
