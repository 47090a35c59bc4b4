/**
 * Writes chat.completion.chunk messages. What is the same in all of them is serialised once, and no
 * line grows beyond 64 KiB, for there are clients that give up a whole answer over a longer one.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import { MAX_TEXT_LINE_CHARS, splitLongText } from '../../split-long-text.ts'

export interface ChunkWriter {
  readonly delta: (delta: JsonObject) => SseMessage
  /** A delta of one text, in as many messages as it needs. `before` and `after` enclose its JSON. */
  readonly text: (before: string, text: string, after: string) => readonly SseMessage[]
  readonly logprobs: (tokens: readonly Json[]) => readonly SseMessage[]
  readonly finish: (reason: string) => SseMessage
  readonly usage: (usage: JsonObject) => SseMessage
}

export interface ChunkHead {
  readonly id: string
  readonly createdAtMs: number
  readonly model: string
  /** Whether a usage will follow, which every chunk before it announces as `null`. */
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
      inGroups(tokens, MAX_TOKENS).map((group) => ({
        data: `${open}{"content":""},"logprobs":${JSON.stringify({ content: group, refusal: null })},"finish_reason":null${end}`,
      })),
    finish: (reason) => ({
      data: `${open}{},"logprobs":null,"finish_reason":${JSON.stringify(reason)}${end}`,
    }),
    usage: (usage) => ({ data: `${head}],"usage":${JSON.stringify(usage)}}` }),
  }
}

/** With twenty alternatives a token takes some 2 KB. */
const MAX_TOKENS = 24

function inGroups<One>(list: readonly One[], size: number): readonly (readonly One[])[] {
  if (list.length <= size) return [list]
  const groups: (readonly One[])[] = []
  for (let at = 0; at < list.length; at += size) groups.push(list.slice(at, at + size))
  return groups
}

/** Objects of a list, as many together as stay below the limit. One alone may be above it. */
export function groupByLineLength(list: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const lines: JsonObject[][] = []
  let size = Infinity
  for (const one of list) {
    const length = JSON.stringify(one).length
    if (size + length > MAX_TEXT_LINE_CHARS) {
      lines.push([])
      size = 0
    }
    lines.at(-1)?.push(one)
    size += length
  }
  return lines
}
