/**
 * Writes the chunks of a chat stream (`chat.completion.chunk`). The JSON that all chunks have in
 * common is serialized once. No line is longer than 64 KiB, because some clients abort the answer
 * at a longer line.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import { MAX_TEXT_LINE_CHARS, splitLongText } from '../../split-long-text.ts'

export interface ChunkWriter {
  readonly delta: (delta: JsonObject) => SseMessage
  /**
   * Writes a text, as several deltas if it is long. `before` and `after` are the JSON around the
   * text.
   */
  readonly text: (before: string, text: string, after: string) => readonly SseMessage[]
  readonly logprobs: (tokens: readonly Json[]) => readonly SseMessage[]
  readonly finish: (reason: string) => SseMessage
  readonly usage: (usage: JsonObject) => SseMessage
}

export interface ChunkHead {
  readonly id: string
  readonly createdAtMs: number
  readonly model: string
  /** True if a chunk with the usage follows: all chunks before it then have `"usage": null`. */
  readonly announcesUsage: boolean
}

export function createChunkWriter({
  id,
  createdAtMs,
  model,
  announcesUsage,
}: ChunkHead): ChunkWriter {
  const created = Math.floor(createdAtMs / 1000)
  const head = `{"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":[`
  const open = `${head}{"index":0,"delta":`
  const end = announcesUsage ? '}],"usage":null}' : '}]}'
  const close = `,"logprobs":null,"finish_reason":null${end}`
  return {
    delta: (delta) => ({ data: open + JSON.stringify(delta) + close }),
    text: (before, text, after) =>
      splitLongText(text).map((piece) => ({
        data: open + before + JSON.stringify(piece) + after + close,
      })),
    logprobs: (tokens) =>
      splitIntoGroups(tokens, MAX_TOKENS_PER_CHUNK).map((group) => ({
        data: `${open}{"content":""},"logprobs":${JSON.stringify({ content: group, refusal: null })},"finish_reason":null${end}`,
      })),
    finish: (reason) => ({
      data: `${open}{},"logprobs":null,"finish_reason":${JSON.stringify(reason)}${end}`,
    }),
    usage: (usage) => ({ data: `${head}],"usage":${JSON.stringify(usage)}}` }),
  }
}

/**
 * Keeps a chunk below 64 KiB: the logprobs of a token take about 2 KB if 20 alternatives are
 * requested, so 24 tokens take 48 KB.
 */
const MAX_TOKENS_PER_CHUNK = 24

function splitIntoGroups<Entry>(
  list: readonly Entry[],
  size: number,
): readonly (readonly Entry[])[] {
  if (list.length <= size) return [list]
  const groups: (readonly Entry[])[] = []
  for (let start = 0; start < list.length; start += size)
    groups.push(list.slice(start, start + size))
  return groups
}

/**
 * Groups objects so that the JSON of each group stays below the limit. The group of a single object
 * may exceed it.
 */
export function groupByLineLength(list: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const lines: JsonObject[][] = []
  let size = Infinity
  for (const object of list) {
    const length = JSON.stringify(object).length
    if (size + length > MAX_TEXT_LINE_CHARS) {
      lines.push([])
      size = 0
    }
    lines.at(-1)?.push(object)
    size += length
  }
  return lines
}
