/**
 * Writes the parts of an answer that are not text: citations, images, and `reasoning_details`,
 * which clients send back. The parts of an item are written when the item ends.
 *
 * Open WebUI aborts an answer at a line of more than 128 KiB, and an image has to fit into one
 * line. (Markdown text with an image could be split, but Open WebUI would send that text to models
 * with every later request.) An image whose line is over 64,000 bytes is replaced by a status
 * message.
 */
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'
import { createOmittedImageStatus, renderAnswerImages } from '../../render-answer-images.ts'
import { exceedsByteLimit, MAX_LINE_BYTES, splitLongText } from '../../stream-line-limits.ts'
import { groupByLineLength, type ChunkRenderer } from './chunk-renderer.ts'
import { readReasoningDetails, renderAnnotations } from './shared-answer-fields.ts'

/**
 * Creates a function that writes the citations, images and reasoning details of an item when it
 * ends. `hasReasoningText` is true if the client was already sent reasoning as text.
 */
export function createNonTextDeltaWriter(
  chunks: ChunkRenderer,
  isOpenWebUi: boolean,
  send: (message: SseMessage) => void,
): (item: Item, hasReasoningText: boolean) => void {
  let delayedDetails: readonly JsonObject[] = []
  /**
   * Writes a list as a field of deltas, in several messages if it is long. For Open WebUI, a message
   * over `MAX_LINE_BYTES` is not sent; `createReplacement`, if given, creates the message that is
   * sent instead.
   */
  const sendList = (
    field: string,
    list: readonly JsonObject[],
    createReplacement?: (chars: number) => SseMessage,
  ): void => {
    for (const line of groupByLineLength(list)) {
      const message = chunks.renderDelta({ [field]: line })
      if (!isOpenWebUi || !exceedsByteLimit(message.data, MAX_LINE_BYTES)) send(message)
      else if (createReplacement !== undefined) send(createReplacement(message.data.length))
    }
  }
  return (item, hasReasoningText) => {
    if (item.type === 'message') sendList('annotations', renderAnnotations(item.content))
    sendList('images', renderAnswerImages(item), createOmittedImageMessage)
    delayedDetails = [...delayedDetails, ...readReasoningDetails(item)]
    // Open WebUI gets reasoning details only after reasoning text, because it shows details without
    // text as an empty block, even in the middle of the answer.
    if (delayedDetails.length === 0 || (isOpenWebUi && !hasReasoningText)) return
    sendList('reasoning_details', delayedDetails.flatMap(splitDetail))
    delayedDetails = []
  }
}

function createOmittedImageMessage(chars: number): SseMessage {
  // Base64 encodes 3 bytes as 4 characters.
  const kilobytes = Math.floor((chars * 3) / 4 / 1000)
  const why = `of ${kilobytes} KB it is too large for Open WebUI to take in a stream`
  return createOmittedImageStatus(why)
}

/**
 * Splits a reasoning detail with a long text into several details, which clients join again by
 * `index`.
 */
function splitDetail(detail: JsonObject): readonly JsonObject[] {
  const name = typeof detail['text'] === 'string' ? 'text' : 'summary'
  const text = detail[name]
  const pieces = typeof text === 'string' ? splitLongText(text) : []
  if (pieces.length < 2) return [detail]
  const { type, index } = detail
  const first = pieces.slice(0, -1).map((piece): JsonObject => ({ type, index, [name]: piece }))
  // The last piece has the other fields, e.g. a signature, so that they are sent only once.
  return [...first, { ...detail, [name]: pieces.at(-1) }]
}
