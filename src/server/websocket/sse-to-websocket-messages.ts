/**
 * Converts server-sent events to WebSocket messages: each message is the JSON of one event. Comments
 * and `[DONE]` exist only in server-sent events and are dropped.
 */
import { createSseDecoder } from '../../core/stream/sse.ts'

/**
 * Creates a converter. If the client sent a `stream_id`, the converter adds it to every message.
 */
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

/**
 * Splits text that the gateway wrote, which contains only complete events in the format of
 * `core/stream/sse.ts`.
 */
function splitEvents(text: string): readonly string[] {
  return text.split('\n\n').flatMap((event) => {
    const start = event.startsWith('data: ') ? 0 : event.indexOf('\ndata: ') + 1
    if (start === 0 && !event.startsWith('data: ')) return NO_MESSAGES
    return [event.slice(start + 'data: '.length).replaceAll('\ndata: ', '\n')]
  })
}
