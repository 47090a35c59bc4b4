/**
 * Renders the chunks of a chat stream (`chat.completion.chunk`). The JSON that all chunks have in
 * common is serialized once. No line of text or log probabilities is longer than 64 KiB, because
 * Open WebUI aborts an answer at a line of more than 128 KiB.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'
import { MAX_CHARS_PER_STREAM_LINE, splitLongText } from '../../stream-line-limits.ts'

export interface ChunkRenderer {
  readonly renderDelta: (delta: JsonObject) => SseMessage
  /**
   * Renders a text as one delta, or as several if it is long. `deltaStart` and `deltaEnd` are the JSON of
   * the delta around the text, e.g. `{"content":` and `}`.
   */
  readonly renderText: (deltaStart: string, text: string, deltaEnd: string) => readonly SseMessage[]
  readonly renderLogprobs: (tokens: readonly Json[]) => readonly SseMessage[]
  readonly renderFinish: (reason: string) => SseMessage
  readonly renderUsage: (usage: JsonObject) => SseMessage
}

export interface CommonChunkFields {
  readonly id: string
  readonly createdAtMs: number
  readonly model: string
  /** True if a chunk with the usage comes last: all chunks before it then have `"usage": null`. */
  readonly announcesUsage: boolean
}

export function createChunkRenderer(fields: CommonChunkFields): ChunkRenderer {
  const { id, createdAtMs, model, announcesUsage } = fields
  const created = Math.floor(createdAtMs / 1000)
  const head = `{"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":[`
  const open = `${head}{"index":0,"delta":`
  const end = announcesUsage ? '}],"usage":null}' : '}]}'
  const close = `,"logprobs":null,"finish_reason":null${end}`
  return {
    renderDelta: (delta) => ({ data: open + JSON.stringify(delta) + close }),
    renderText: (deltaStart, text, deltaEnd) =>
      splitLongText(text).map((piece) => ({
        data: open + deltaStart + JSON.stringify(piece) + deltaEnd + close,
      })),
    renderLogprobs: (tokens) =>
      splitTokens(tokens).map((group) => ({
        data: `${open}{"content":""},"logprobs":${JSON.stringify({ content: group, refusal: null })},"finish_reason":null${end}`,
      })),
    renderFinish: (reason) => ({
      data: `${open}{},"logprobs":null,"finish_reason":${JSON.stringify(reason)}${end}`,
    }),
    renderUsage: (usage) => ({ data: `${head}],"usage":${JSON.stringify(usage)}}` }),
  }
}

/**
 * Maximum number of tokens whose log probabilities are in one chunk. With 20 alternatives a token
 * takes about 2 KB, so 24 tokens take 48 KB, less than 64 KiB.
 */
const MAX_TOKENS_PER_CHUNK = 24

function splitTokens(tokens: readonly Json[]): readonly (readonly Json[])[] {
  const groups: (readonly Json[])[] = []
  for (let start = 0; start < tokens.length; start += MAX_TOKENS_PER_CHUNK)
    groups.push(tokens.slice(start, start + MAX_TOKENS_PER_CHUNK))
  return groups
}

/**
 * Groups objects into lists of at most 10,000 characters of JSON, so that each list fits into one
 * line. A longer object gets a list of its own.
 */
export function groupByLineLength(list: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const lines: JsonObject[][] = []
  let size = Infinity
  for (const object of list) {
    const length = JSON.stringify(object).length
    if (size + length > MAX_CHARS_PER_STREAM_LINE) {
      lines.push([])
      size = 0
    }
    lines.at(-1)?.push(object)
    size += length
  }
  return lines
}
