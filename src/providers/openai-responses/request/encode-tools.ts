/** Encodes tools and the tool choice in flat form: `{ type: 'function', name, parameters }`. */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters, Prompt, Tool } from '../../../core/prompt.ts'
import { encodeResponsesToolChoice } from '../../../core/json/encode-responses-tool-choice.ts'
import type { NoteCode } from '../encoding-notes.ts'

/** Encodes the tools. The tools of a Responses client are sent as the client wrote them. */
export function encodeTools(
  { params, source }: Prompt,
  note: (index: number, code: NoteCode, detail: string) => void,
): readonly JsonObject[] {
  const clientTools = source.dialect === 'responses' ? source.body['tools'] : null
  const encodedTools: JsonObject[] = []
  for (const [index, tool] of params.tools.entries()) {
    const clientIndex = source.params.tools.indexOf(tool)
    const raw: unknown = Array.isArray(clientTools) ? clientTools[clientIndex] : undefined
    const encoded = raw === undefined ? encodeTool(tool, source.dialect) : (raw as JsonObject)
    if (encoded === null) note(index, 'tool-without-word', readType(tool))
    else encodedTools.push(encoded)
  }
  return encodedTools
}

function readType(tool: Tool): string {
  const type = tool.type === 'opaque' ? tool.raw['type'] : tool.type
  return typeof type === 'string' ? type : '?'
}

function encodeTool(tool: Tool, dialect: Prompt['source']['dialect']): JsonObject | null {
  switch (tool.type) {
    case 'function':
      // Always sends `strict`, because its default is true in this API and false in Chat
      // Completions.
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

/** Encodes the tool choice; returns undefined if none is sent. */
export function encodeToolChoice(
  { toolChoice, tools }: PromptParameters,
  dialect: Prompt['source']['dialect'],
  note: (code: NoteCode) => void,
): Json | undefined {
  if (toolChoice === null) return undefined
  if (toolChoice.type === 'opaque') {
    if (dialect === 'responses') return toolChoice.raw
    note('parameter-without-word')
    return undefined
  }
  const isSent = (tool: Tool) => dialect === 'responses' || tool.type !== 'opaque'
  // Sends no choice without tools, because the API rejects it. A missing `auto` or `none` needs no
  // note, because nothing is lost.
  if (!tools.some(isSent)) {
    if (toolChoice.type !== 'auto' && toolChoice.type !== 'none') note('tool-choice-without-tools')
    return undefined
  }
  return encodeResponsesToolChoice(toolChoice, tools)
}
