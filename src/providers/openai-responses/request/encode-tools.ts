/** Tools and the choice among them, in this wire's flat form. */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters, Prompt, Tool } from '../../../core/prompt.ts'
import { encodeResponsesToolChoice } from '../../../core/json/encode-responses-tool-choice.ts'
import type { NoteCode } from '../encoding-notes.ts'

/** A tool that the client wrote in this language goes as it was written. */
export function encodeTools(
  { params, source }: Prompt,
  note: (at: number, why: NoteCode, detail: string) => void,
): readonly JsonObject[] {
  const written = source.dialect === 'responses' ? source.body['tools'] : null
  const sent: JsonObject[] = []
  for (const [place, tool] of params.tools.entries()) {
    const at = source.params.tools.indexOf(tool)
    const raw: unknown = Array.isArray(written) ? written[at] : undefined
    const encoded = raw === undefined ? encodeTool(tool, source.dialect) : (raw as JsonObject)
    if (encoded === null) note(place, 'tool-without-word', readType(tool))
    else sent.push(encoded)
  }
  return sent
}

function readType(tool: Tool): string {
  const type = tool.type === 'opaque' ? tool.raw['type'] : tool.type
  return typeof type === 'string' ? type : '?'
}

function encodeTool(tool: Tool, dialect: Prompt['source']['dialect']): JsonObject | null {
  switch (tool.type) {
    case 'function':
      // `strict` is always said: left out, it means the opposite of what it means to a chat client.
      return { ...tool }
    case 'custom': {
      const { type, name, description, format } = tool
      const optional = {
        ...(description === null ? {} : { description }),
        ...(format === null ? {} : { format }),
      }
      return { type, name, ...optional }
    }
    case 'opaque':
      return dialect === 'responses' ? tool.raw : null
  }
}

/** `undefined` where nothing is to be said. */
export function encodeToolChoice(
  { toolChoice, tools }: PromptParameters,
  dialect: Prompt['source']['dialect'],
  note: (why: NoteCode) => void,
): Json | undefined {
  if (toolChoice === null) return undefined
  if (toolChoice.type === 'opaque') {
    if (dialect === 'responses') return toolChoice.raw
    note('parameter-without-word')
    return undefined
  }
  const isSent = (tool: Tool) => dialect === 'responses' || tool.type !== 'opaque'
  // A choice without tools is refused, and by itself says nothing.
  if (!tools.some(isSent)) {
    if (toolChoice.type !== 'auto' && toolChoice.type !== 'none') note('tool-choice-without-tools')
    return undefined
  }
  return encodeResponsesToolChoice(toolChoice, tools)
}
