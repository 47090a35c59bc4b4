/**
 * What is written to a client as server-sent events, as frames: the JSON of one event each. Comments
 * and `[DONE]` belong to the other form and are left out.
 */
import { createSseDecoder } from '../../core/stream/sse.ts'

/** `streamId` is the lane that a client has named; every frame of its answer names it, too. */
export function createFrameEncoder(
  streamId: string | null,
): (written: string | Uint8Array) => readonly string[] {
  const sse = createSseDecoder()
  const lane = streamId === null ? null : `{"stream_id":${JSON.stringify(streamId)},`
  const framed = (data: string): readonly string[] => {
    if (!data.startsWith('{')) return NONE
    return [lane === null ? data : lane + data.slice(1)]
  }
  return (written) =>
    typeof written === 'string'
      ? dataIn(written).flatMap(framed)
      : sse.push(written).flatMap(({ data }) => framed(data))
}

const NONE: readonly string[] = []

/** Our own words are always whole events, in the one way in which `core/stream/sse.ts` writes them. */
function dataIn(text: string): readonly string[] {
  return text.split('\n\n').flatMap((event) => {
    const at = event.startsWith('data: ') ? 0 : event.indexOf('\ndata: ') + 1
    if (at === 0 && !event.startsWith('data: ')) return NONE
    return [event.slice(at + 'data: '.length).replaceAll('\ndata: ', '\n')]
  })
}
