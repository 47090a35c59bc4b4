/**
 * Tells what stands beside the texts of an answer: citations, images, and the details of its
 * reasoning, which a client sends back. They are told as lists, when the item that has them ends.
 *
 * Over a long line Open WebUI gives up the whole answer, and an image comes in one line or not at all.
 * As text it could come in pieces, but would be sent to models as text with every later request. So
 * what is too large is not shown, and that is said.
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
  /** `hasThoughts`: some reasoning was shown. */
  readonly ended: (item: Item, hasThoughts: boolean) => void
}

export function createNonTextDeltaWriter(
  writer: ChunkWriter,
  isOpenWebUi: boolean,
  send: (message: SseMessage) => void,
): NonTextDeltaWriter {
  let held: readonly JsonObject[] = []
  /** `without` is told how long the line is that one object would take by itself. */
  const sendList = (
    field: string,
    list: readonly JsonObject[],
    without?: (chars: number) => SseMessage,
  ): void => {
    for (const line of groupByLineLength(list)) {
      const message = writer.delta({ [field]: line })
      if (!isOpenWebUi || !exceedsByteLimit(message.data, MAX_LINE_BYTES)) send(message)
      else if (without !== undefined) send(without(message.data.length))
    }
  }
  return {
    ended(item, hasThoughts) {
      if (item.type === 'message') {
        const annotations = item.content.flatMap((part) =>
          part.type === 'output_text' ? (part.annotations ?? []).map(renderAnnotation) : [],
        )
        sendList('annotations', present(annotations))
      }
      sendList('images', collectGeneratedImages(item), notShown)
      const details = readReasoningDetails(item)
      held = held.length === 0 ? details : [...held, ...details]
      // Open WebUI makes an empty thought of details that stand alone, in the middle of the text if
      // need be. They wait for reasoning that is shown, and are not told if there is none.
      if (held.length === 0 || (isOpenWebUi && !hasThoughts)) return
      sendList('reasoning_details', held.flatMap(cutDetail))
      held = []
    },
  }
}

function notShown(chars: number): SseMessage {
  const kilobytes = Math.floor((chars * 3) / 4 / 1000)
  return createOmittedImageStatus(
    `of ${kilobytes} KB it is too large for Open WebUI to take in a stream`,
  )
}

/** Text of a block may come in pieces, which clients put together by `index`. */
function cutDetail(detail: JsonObject): readonly JsonObject[] {
  const name = typeof detail['text'] === 'string' ? 'text' : 'summary'
  const text = detail[name]
  const cut = typeof text === 'string' ? splitLongText(text) : []
  if (cut.length < 2) return [detail]
  const { type, index } = detail
  const leads = cut.slice(0, -1).map((piece): JsonObject => ({ type, index, [name]: piece }))
  return [...leads, { ...detail, [name]: cut.at(-1) }]
}

function present<One>(list: readonly (One | null)[]): readonly One[] {
  return list.filter((one) => one !== null)
}
