/**
 * Writes the parts of an answer that are not text: citations, images, and `reasoning_details`, which
 * clients send back. Each list is written when its item ends.
 *
 * Open WebUI aborts an answer at a line of more than 64 KiB, and an image has to fit into one line. (As
 * Markdown text it could be split, but Open WebUI would send that text to models with every later
 * request.) An image that is too large is replaced with a status message.
 */
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import { exceedsByteLimit, MAX_LINE_BYTES } from '../../exceeds-line-byte-limit.ts'
import { createOmittedImageStatus, collectGeneratedImages } from '../../collect-generated-images.ts'
import { splitLongText } from '../../split-long-text.ts'
import { groupByLineLength, type ChunkWriter } from './chunk-writer.ts'
import { readReasoningDetails, renderAnnotation } from './render-answer-fields.ts'

export interface NonTextDeltaWriter {
  /** `hasReasoningText` is true if the answer has shown reasoning as text. */
  readonly endItem: (item: Item, hasReasoningText: boolean) => void
}

export function createNonTextDeltaWriter(
  writer: ChunkWriter,
  isOpenWebUi: boolean,
  send: (message: SseMessage) => void,
): NonTextDeltaWriter {
  let delayedDetails: readonly JsonObject[] = []
  /** `createReplacement` gets the length of a line that is too long. Without it, the line is dropped. */
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
      // Open WebUI shows details without reasoning text as an empty block, even in the middle of the
      // text. They are delayed until there is reasoning text, and dropped if there is none.
      if (delayedDetails.length === 0 || (isOpenWebUi && !hasReasoningText)) return
      sendList('reasoning_details', delayedDetails.flatMap(splitDetail))
      delayedDetails = []
    },
  }
}

function createOmittedImageMessage(chars: number): SseMessage {
  // Base64 has 4 characters for 3 bytes.
  const kilobytes = Math.floor((chars * 3) / 4 / 1000)
  return createOmittedImageStatus(
    `of ${kilobytes} KB it is too large for Open WebUI to take in a stream`,
  )
}

/** Splits a long text of a detail into several details, which clients join by `index`. */
function splitDetail(detail: JsonObject): readonly JsonObject[] {
  const name = typeof detail['text'] === 'string' ? 'text' : 'summary'
  const text = detail[name]
  const pieces = typeof text === 'string' ? splitLongText(text) : []
  if (pieces.length < 2) return [detail]
  const { type, index } = detail
  const first = pieces.slice(0, -1).map((piece): JsonObject => ({ type, index, [name]: piece }))
  // The other fields, e.g. a signature, are sent once, with the last piece.
  return [...first, { ...detail, [name]: pieces.at(-1) }]
}
