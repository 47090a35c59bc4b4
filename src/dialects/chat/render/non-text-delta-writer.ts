/**
 * Writes the parts of an answer that are not text: citations, images, and `reasoning_details`,
 * which clients send back. The parts of an item are written when the item ends.
 *
 * Open WebUI aborts an answer at a line of more than 64 KiB, and an image has to fit into one line.
 * (The gateway could send an image as Markdown text, which can be split, but Open WebUI would then
 * send that text to models with every later request.) A status message replaces an image that is
 * too large.
 */
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import { exceedsByteLimit, MAX_LINE_BYTES } from '../../exceeds-line-byte-limit.ts'
import { createOmittedImageStatus, collectGeneratedImages } from '../../collect-generated-images.ts'
import { splitLongText } from '../../split-long-text.ts'
import { groupByLineLength, type ChunkWriter } from './chunk-writer.ts'
import { readReasoningDetails, renderAnnotation } from './render-finish-usage-and-annotations.ts'

export interface NonTextDeltaWriter {
  /**
   * Writes the parts of an item. `hasReasoningText` is true if the client was sent reasoning as
   * text.
   */
  readonly endItem: (item: Item, hasReasoningText: boolean) => void
}

export function createNonTextDeltaWriter(
  writer: ChunkWriter,
  isOpenWebUi: boolean,
  send: (message: SseMessage) => void,
): NonTextDeltaWriter {
  let delayedDetails: readonly JsonObject[] = []
  /**
   * Writes a list as a field of a delta. If the line is too long, writes the result of
   * `createReplacement`, which gets the length, or nothing without it.
   */
  const sendList = (
    field: string,
    list: readonly JsonObject[],
    createReplacement?: (chars: number) => SseMessage,
  ): void => {
    for (const line of groupByLineLength(list)) {
      const message = writer.delta({ [field]: line })
      if (!isOpenWebUi || !exceedsByteLimit(message.data, MAX_LINE_BYTES)) send(message)
      else if (createReplacement !== undefined) send(createReplacement(message.data.length))
    }
  }
  return {
    endItem(item, hasReasoningText) {
      if (item.type === 'message') {
        const annotations = item.content.flatMap((part) =>
          part.type === 'output_text' ? (part.annotations ?? []).map(renderAnnotation) : [],
        )
        sendList(
          'annotations',
          annotations.filter((annotation) => annotation !== null),
        )
      }
      sendList('images', collectGeneratedImages(item), createOmittedImageMessage)
      delayedDetails = [...delayedDetails, ...readReasoningDetails(item)]
      // Delays details until there is reasoning text, and drops them if there is none: Open WebUI
      // shows details without text as an empty block, even in the middle of the answer.
      if (delayedDetails.length === 0 || (isOpenWebUi && !hasReasoningText)) return
      sendList('reasoning_details', delayedDetails.flatMap(splitDetail))
      delayedDetails = []
    },
  }
}

function createOmittedImageMessage(chars: number): SseMessage {
  // Base64 encodes 3 bytes as 4 characters.
  const kilobytes = Math.floor((chars * 3) / 4 / 1000)
  return createOmittedImageStatus(
    `of ${kilobytes} KB it is too large for Open WebUI to take in a stream`,
  )
}

/** Splits a detail with a long text into several details, which clients join again by `index`. */
function splitDetail(detail: JsonObject): readonly JsonObject[] {
  const name = typeof detail['text'] === 'string' ? 'text' : 'summary'
  const text = detail[name]
  const pieces = typeof text === 'string' ? splitLongText(text) : []
  if (pieces.length < 2) return [detail]
  const { type, index } = detail
  const first = pieces.slice(0, -1).map((piece): JsonObject => ({ type, index, [name]: piece }))
  // Sends the other fields, e.g. a signature, once: with the last piece.
  return [...first, { ...detail, [name]: pieces.at(-1) }]
}
