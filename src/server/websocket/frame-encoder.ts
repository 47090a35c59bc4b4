/**
 * Converts server-sent events to WebSocket frames: each frame is the JSON of one event. Comments and
 * `[DONE]` exist only in server-sent events and are dropped.
 */
import { createSseDecoder } from '../../core/stream/sse.ts'

/** Every frame carries `streamId`, if the client named one. */
export function createFrameEncoder(
  streamId: string | null,
): (written: string | Uint8Array) => readonly string[] {
  const sse = createSseDecoder()
  const prefix = streamId === null ? null : `{"stream_id":${JSON.stringify(streamId)},`
  const createFrames = (data: string): readonly string[] => {
    if (!data.startsWith('{')) return NO_FRAMES
    return [prefix === null ? data : prefix + data.slice(1)]
  }
  return (written) =>
    typeof written === 'string'
      ? splitEvents(written).flatMap(createFrames)
      : sse.push(written).flatMap(({ data }) => createFrames(data))
}

const NO_FRAMES: readonly string[] = []

/** Splits text that the gateway wrote: always complete events, as `core/stream/sse.ts` formats them. */
function splitEvents(text: string): readonly string[] {
  return text.split('\n\n').flatMap((event) => {
    const start = event.startsWith('data: ') ? 0 : event.indexOf('\ndata: ') + 1
    if (start === 0 && !event.startsWith('data: ')) return NO_FRAMES
    return [event.slice(start + 'data: '.length).replaceAll('\ndata: ', '\n')]
  })
}
