/**
 * Encodes tools and the tool choice in the flat form of Responses: `{ type: 'function', name,
 * parameters }`.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters, Prompt, Tool } from '../../../core/prompt.ts'
import { encodeResponsesToolChoice } from '../../../core/json/encode-responses-tool-choice.ts'
import { listExtraToolFields } from '../../request/list-extra-tool-fields.ts'
import type { ResponsesNotes } from '../encoding-notes.ts'

/** Encodes the tools. Tools of a Responses client are sent as the client wrote them. */
export function encodeTools(
  { params, source }: Prompt,
  notes: ResponsesNotes,
): readonly JsonObject[] {
  const clientTools = source.dialect === 'responses' ? source.body['tools'] : null
  const encodedTools: JsonObject[] = []
  for (const [index, tool] of params.tools.entries()) {
    const clientIndex = source.params.tools.indexOf(tool)
    const raw: unknown = Array.isArray(clientTools) ? clientTools[clientIndex] : undefined
    const encoded = raw === undefined ? encodeTool(tool, source.dialect) : (raw as JsonObject)
    if (source.dialect !== 'responses') {
      for (const field of listExtraToolFields(tool, `tools[${index}]`))
        notes.write('tool-field-unsupported', { field })
    }
    if (encoded !== null) encodedTools.push(encoded)
    else notes.write('tool-without-word', { field: `tools[${index}]`, detail: readType(tool) })
  }
  return encodedTools
}

function readType(tool: Tool): string {
  const type = tool.type === 'opaque' ? tool.raw['type'] : tool.type
  return typeof type === 'string' ? type : '?'
}

function encodeTool(tool: Tool, dialect: Prompt['source']['dialect']): JsonObject | null {
  switch (tool.type) {
    case 'function': {
      const { extra, ...fields } = tool
      // `strict` is always sent, because its default is true in the Responses API and false in Chat
      // Completions.
      return { ...fields, ...(dialect === 'responses' ? extra : {}) }
    }
    case 'custom': {
      const { type, name, description, format, extra } = tool
      const optional = {
        ...(description === null ? {} : { description }),
        ...(format === null ? {} : { format }),
        ...(dialect === 'responses' ? extra : {}),
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
  notes: ResponsesNotes,
): Json | undefined {
  if (toolChoice === null) return undefined
  if (toolChoice.type === 'opaque') {
    if (dialect === 'responses') return toolChoice.raw
    notes.write('parameter-without-word', { field: 'tool_choice' })
    return undefined
  }
  const isSent = (tool: Tool) => dialect === 'responses' || tool.type !== 'opaque'
  // The API rejects a tool choice without tools. Leaving out `auto` or `none` changes nothing, so
  // it needs no note.
  if (!tools.some(isSent)) {
    if (toolChoice.type !== 'auto' && toolChoice.type !== 'none') {
      notes.write('tool-choice-without-tools', { field: 'tool_choice' })
    }
    return undefined
  }
  return encodeResponsesToolChoice(toolChoice, tools)
}
